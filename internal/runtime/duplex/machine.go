package duplex

// State is how far a route has come.
type State uint8

// States of a route.
const (
	Reserved State = iota // it has an id and a slot
	Opening               // the worker was asked to open it
	Open                  // it is bound to a session of the worker
	Closed                // it is over, for whatever reason
)

func (s State) String() string {
	return [...]string{"reserved", "opening", "open", "closed"}[s]
}

// event is what moves a route from one state to the next.
type event uint8

const (
	sent    event = iota // the request to open was handed to the worker's pipe
	bound                // a good reply came
	ending               // refusal, time-out, a limit, close, or the end of the worker
	nEvents = iota
)

// next returns the state after an event. It reports false for an event that
// has no place in this state and leaves it as it is; in Closed that is every
// event, which is what lets a route end only once.
func (s State) next(e event) (State, bool) {
	switch {
	case s == Reserved && e == sent:
		return Opening, true
	case s == Opening && e == bound:
		return Open, true
	case s != Closed && e == ending:
		return Closed, true
	}
	return s, false
}

package render

import (
	"slices"
	"testing"
)

func TestLocateInvertsAddress(t *testing.T) {
	args := map[Place][]string{
		PlaceErrorsPage: {"2"}, PlaceErrorsRepo: {"acme/tool"}, PlaceOwner: {"acme"}, PlaceError: {"acme/tool", "a-b"}, PlaceErrorID: {"ec727a874bad4398"}, PlaceRepo: {"acme/tool"},
		PlaceRepoPage: {"acme/tool", "3"}, PlaceTag: {"a b/c?d#e%"}, PlaceTagPage: {"tag", "2"}, PlaceBackground: {"x"}, PlaceBackgroundPage: {"x", "2"},
		PlaceProblem: {"not-found"}, PlaceAPIError: {"ec727a874bad4398"}, PlaceAPIProve: {"ec727a874bad4398"}, PlaceAsset: {"app.css"}, PlaceSource: {"daytona/a b.go"},
	}
	for _, base := range []Base{"", "/kb", "/errors"} {
		for place := range placeCount {
			address := base.Address(place, args[place]...)
			if addresses[place] == "" {
				t.Errorf("place %d has no address", place)
				continue
			}
			got, gotArgs, ok := base.Locate(address)
			if !ok || got != place || !slices.Equal(gotArgs, args[place]) {
				t.Errorf("Locate(%q) = %d %q %v, want %d %q", address, got, gotArgs, ok, place, args[place])
			}
		}
	}
}

func FuzzLocate(f *testing.F) {
	for _, seed := range []string{"/", "/errors/a/b/c/", "/errors/%2F", "/errors/%252F/", "/tags/a%2Fb/", "/repos/../x/", "/errors/\x00", "/errors/page/2/", "/source/a/b.go", "/source/a%2Fb/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		place, args, ok := Base("").Locate(address)
		if ok && Base("").Address(place, args...) != address {
			t.Errorf("%q is located at %d %q, which has the address %q", address, place, args, Base("").Address(place, args...))
		}
	})
}

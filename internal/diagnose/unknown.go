package diagnose

func (w *work) unknown() *Unknown { return &Unknown{Near: []NearRecord{}} }

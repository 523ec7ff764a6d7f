package main

import (
	"context"
	"encoding/json"
	"iter"

	"sodafountain.internal/sodafountain"
)

// watch is a watch whose updates are requested one by one.
type watch struct {
	pull   func() (*sodafountain.Update, error, bool)
	stop   func()
	caller *caller
	// The resume token of the last update.
	resumeToken string
}

func (r *runner) watch(ctx context.Context, caller *caller, step step) error {
	var options []sodafountain.WatchOption
	if step.LegalMoves {
		options = append(options, sodafountain.WithLegalMoves())
	}
	if step.Resume != "" {
		options = append(options, sodafountain.WithResumeToken(r.watches[step.Resume].resumeToken))
	}
	if step.IdleTimeout != nil {
		var count *float64
		if err := json.Unmarshal(step.IdleTimeout, &count); err != nil {
			return err
		}
		idleTimeout := sodafountain.NoIdleTimeout
		if count != nil {
			idleTimeout = seconds(*count)
		}
		options = append(options, sodafountain.WithIdleTimeout(idleTimeout))
	}
	pull, stop := iter.Pull2(caller.viewer(step).Watch(ctx, options...))
	r.watches[step.Name] = &watch{pull: pull, stop: stop, caller: caller}
	return nil
}

// next returns the next updates; fewer if the watch ends.
func (w *watch) next(count int) (outcome, error) {
	updates := []outcome{}
	for range count {
		update, err, more := w.pull()
		if err != nil {
			return nil, err
		}
		if !more {
			return outcome{"updates": updates, "over": true}, nil
		}
		w.resumeToken, w.caller.legalMoves = update.ResumeToken, update.State.GetLegalMoves()
		updates = append(updates, outcome{
			"version":  update.State.GetVersion(),
			"events":   len(update.Events),
			"snapshot": update.IsSnapshot,
			"moves":    len(update.State.GetLegalMoves()),
		})
	}
	return outcome{"updates": updates, "over": false}, nil
}

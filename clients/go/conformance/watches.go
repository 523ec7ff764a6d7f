package main

import (
	"context"
	"encoding/json"
	"iter"

	"sodafountain.internal/sodafountain"
)

// watch is a watch that is asked for one update after the other.
type watch struct {
	pull func() (*sodafountain.Update, error, bool)
	stop func()
	by   *caller
	// The resume token of its last update.
	heard string
}

func (t *table) watch(ctx context.Context, caller *caller, step step) error {
	var options []sodafountain.WatchOption
	if step.LegalMoves {
		options = append(options, sodafountain.WithLegalMoves())
	}
	if step.Resume != "" {
		options = append(options, sodafountain.ResumeAfter(t.watches[step.Resume].heard))
	}
	if step.Patience != nil {
		var count *float64
		if err := json.Unmarshal(step.Patience, &count); err != nil {
			return err
		}
		patience := sodafountain.Forever
		if count != nil {
			patience = seconds(*count)
		}
		options = append(options, sodafountain.WithPatience(patience))
	}
	pull, stop := iter.Pull2(caller.viewer(step).Watch(ctx, options...))
	t.watches[step.Name] = &watch{pull: pull, stop: stop, by: caller}
	return nil
}

// next takes updates, fewer if the watch ends before.
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
		w.heard, w.by.listed = update.ResumeToken, update.State.GetLegalMoves()
		updates = append(updates, outcome{
			"version":  update.State.GetVersion(),
			"events":   len(update.Events),
			"snapshot": update.IsSnapshot,
			"moves":    len(update.State.GetLegalMoves()),
		})
	}
	return outcome{"updates": updates, "over": false}, nil
}

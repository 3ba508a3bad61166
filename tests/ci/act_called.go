package runner

import (
	"context"
	"sync"

	"github.com/nektos/act/pkg/common"
	"github.com/nektos/act/pkg/model"
)

var (
	failedLock sync.Mutex
	failed     = map[*model.Job]bool{}
)

// goingOn runs a called workflow as GitHub does: if one of its jobs fails, the job that calls it has failed, and the jobs
// that need that one decide by their own `if`. act ends the run there, and takes the result of the last job for that of
// the workflow.
func goingOn(rc *RunContext, called common.Executor) common.Executor {
	return func(ctx context.Context) error {
		err := called(ctx)
		if err != nil {
			common.Logger(ctx).Errorf("%v", err)
		}
		failedLock.Lock()
		defer failedLock.Unlock()
		// A job with a matrix is called several times.
		failed[rc.Run.Job()] = failed[rc.Run.Job()] || err != nil
		if failed[rc.Run.Job()] {
			rc.result("failure")
		}
		return nil
	}
}

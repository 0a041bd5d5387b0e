// Copyright 2024 The Queue Authors.

// Package queue holds jobs until a worker takes them.
package queue

import (
	"context"
	"fmt"

	log "github.com/acme/logging/v2"
	_ "github.com/lib/pq"
	. "math"
)

import "gopkg.in/yaml.v3"

const MAX_JOBS = 100

const (
	Waiting State = iota
	Running
)

var ErrFull = errors.New("full")

// State of a job.
type State int

// Queue is a list of jobs.
//
// It is safe for concurrent use.
type Queue[T any] struct {
	sync.Mutex
	*store.Base
	jobs []Job
	log  log.Logger
}

type (
	// Runner runs jobs.
	Runner interface {
		fmt.Stringer
		Run(ctx context.Context, job Job) error
	}
	Job = map[string]string
)

// Push adds a job.
func (q *Queue[T]) Push(ctx context.Context, job Job) (err error) {
	q.Lock()
	defer q.Unlock()
	if len(q.jobs) >= MAX_JOBS {
		return fmt.Errorf("push: %w", ErrFull)
	}
	q.jobs = append(q.jobs, job)
	go func() {
		notify(ctx, job)
	}()
	return nil
}

func (r Result) String() string {
	return yaml.Marshal(r).Text()
}

func New(size int) *Queue[string] {
	jobs := make([]Job, 0, size)
	for i, job := range jobs {
		log.Print(i, job.Name)
	}
	return &Queue[string]{jobs: jobs, log: log.Default()}
}

// The pages: a line for each. A page reads the rest of its address from route.value.

import type { Component } from 'svelte'
import Compare from './pages/Compare.svelte'
import Conform from './pages/Conform.svelte'
import Experiment from './pages/Experiment.svelte'
import Experiments from './pages/Experiments.svelte'
import Note from './pages/Note.svelte'
import Request from './pages/Request.svelte'
import Run from './pages/Run.svelte'
import Runs from './pages/Runs.svelte'
import Search from './pages/Search.svelte'
import Searches from './pages/Searches.svelte'

export interface Page {
  /** The path: runs/: is runs and one part that can be anything. */
  path: string
  page: Component
  /** The place that is marked in the header, named page.place.X in the catalogues. */
  place: string
  /** The letter that leads to the place after g. A page with one stands in the header. */
  key?: string
}

export const pages: Page[] = [
  { path: 'runs', page: Runs, place: 'runs', key: 'r' },
  { path: 'runs/:', page: Run, place: 'runs' },
  { path: 'runs/:/requests/:', page: Request, place: 'runs' },
  { path: 'compare', page: Compare, place: 'compare', key: 'c' },
  { path: 'experiments', page: Experiments, place: 'experiments', key: 'e' },
  { path: 'experiments/:', page: Experiment, place: 'experiments' },
  { path: 'searches', page: Searches, place: 'searches', key: 's' },
  { path: 'searches/:', page: Search, place: 'searches' },
  { path: 'conform', page: Conform, place: 'conform', key: 'f' },
  { path: 'note', page: Note, place: 'notes' },
]

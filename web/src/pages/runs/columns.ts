/** The columns that sort a list, named runs.column.X; down: the largest first, as of all numbers. */
interface Sort {
  by: string
  down: boolean
}

/** The columns by class. Each is a sort or two. */
export const columns: { name: string; sorts: Sort[] }[] = [
  { name: 'verdict', sorts: [{ by: 'verdict', down: false }] },
  { name: 'name', sorts: [{ by: 'name', down: false }] },
  { name: 'model', sorts: [{ by: 'model', down: false }, { by: 'load', down: false }] },
  { name: 'started', sorts: [{ by: 'started', down: true }] },
  { name: 'requests', sorts: [{ by: 'requests', down: true }, { by: 'failed', down: true }] },
  { name: 'ttft', sorts: [{ by: 'ttft.p99', down: true }] },
  { name: 'tpot', sorts: [{ by: 'tpot.mean', down: true }] },
  { name: 'output', sorts: [{ by: 'throughput.output', down: true }] },
]

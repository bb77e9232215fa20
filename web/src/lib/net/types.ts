// Written by internal/show/view (UPDATE=1 go test ./internal/show/view). Do not edit.

export interface Hello {
  version: string;
  store: string;
  write: boolean;
  language: string;
  languages: string[];
  words: Record<string, string>;
}

export interface RunGroup {
  name: string;
  kind: string;
  status: string;
  runs: number;
  valid: number;
  doubtful: number;
  invalid: number;
  loads: number;
  models: number;
}

export interface Row {
  id: string;
  name: string;
  kind: string;
  status: string;
  validity: string;
  started: string;
  model: string;
  url: string;
  dialect: string;
  load: string;
  requests: number;
  records: number;
  failed: number;
  concurrency: number;
  rate: number;
  experiment: string;
  variant: string;
  tags: string[];
  remark: string;
  figures: Record<string, number>;
  group: RunGroup | null;
}

export interface Runs {
  total: number;
  runs: number;
  stored: number;
  offset: number;
  rows: Row[];
  models: string[];
  tags: string[];
  experiments: string[];
  loads: string[];
}

export interface Sparkline {
  id: string;
  values: number[];
}

export interface Labels {
  tags: string[];
  remark: string;
}

export interface Changes {
  stored: number;
  added: string[];
  changed: string[];
  removed: string[];
  experiments: string[];
}

export interface Progress {
  id: string;
  status: string;
  requests: number;
  records: number;
  failed: number;
  at: number | null;
  released: number;
  done: number;
  in_flight: number;
  tokens: number;
}

export interface Verdict {
  validity: string;
  headline: string;
  causes: string[];
  remedy: string;
  effects: string;
}

export interface Said {
  label: string;
  text: string;
  tone: string;
}

export interface Figure {
  name: string;
  group: string;
  title: string;
  unit: string;
  text: string;
  value: number | null;
  definition: string;
  doubt: string;
  low: number | null;
  high: number | null;
}

export interface Brief {
  of: string;
  met: string;
  met_share: number | null;
  judged: Said[];
  figures: Figure[];
}

export interface Requests {
  planned: number;
  sent: number;
  ok: number;
  failed: number;
}

export interface Failure {
  class: string;
  title: string;
  status: number;
  count: number;
  example: string;
}

export interface Worker {
  name: string;
  zone: string;
  host: string;
  requests: number;
  records: number;
  late: number | null;
  cpu: number | null;
  lag: number | null;
  clock: number | null;
  drift: number | null;
  validity: string;
  verdict: string;
  why: string;
}

export interface Fleet {
  summary: string;
  apart: string;
  workers: Worker[];
}

export interface Field {
  name: string;
  value: string;
}

export interface Group {
  title: string;
  fields: Field[];
}

export interface Command {
  dialect: string;
  line: string;
  note: string;
}

export interface Run {
  row: Row;
  verdict: Verdict;
  brief: Brief;
  seconds: number | null;
  lasts: number | null;
  figures: Figure[];
  requests: Requests;
  failures: Failure[];
  fleet: Fleet | null;
  notes: string[];
  plan: Group[];
  environment: Group[];
  spec: string;
  commands: Command[];
  note: boolean;
  predicted: string;
}

export interface Report {
  dialect: string;
  text: string;
}

export interface Reports {
  reports: Report[];
  note: string;
}

export interface NoteMark {
  place: string;
  text: string;
  run: string;
}

export interface NotePart {
  marks: NoteMark[];
  text: string;
  left: string;
}

export interface MarkedNote {
  title: string;
  parts: NotePart[];
}

export interface RunNote {
  notes: MarkedNote[];
  compare: string;
}

export interface Series {
  name: string;
  title: string;
  unit: string;
  values: (number | null)[];
}

export interface Line {
  name: string;
  x: number[];
  y: (number | null)[];
}

export interface Strip {
  title: string;
  unit: string;
  steps: boolean;
  top: number;
  lines: Line[];
}

export interface Distribution {
  name: string;
  title: string;
  n: number;
  share: number[];
  value: number[];
  approximate: boolean;
}

export interface Heat {
  name: string;
  title: string;
  step: number;
  edges: number[];
  cells: number[];
}

export interface Course {
  read: number;
  records: number;
  running: boolean;
  seconds: number;
  undated: boolean;
  step: number;
  series: Series[];
  strips: Strip[];
  stalls: [number, number][];
  failed: number[];
  distributions: Distribution[];
  heat: Heat[];
}

export interface RowsHeader {
  n: number;
  every: number;
  unit: number;
  next: number;
  columns: string[];
  classes: string[];
}

export interface Moment {
  name: string;
  title: string;
  at: number;
}

export interface Chunk {
  at: number;
  slack: number;
  tokens: number;
  kind: string;
}

export interface Request {
  index: number;
  id: string;
  tenant: string;
  session: string;
  turn: number;
  prompt_tokens: number;
  want_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  finish_reason: string;
  status: number;
  class: string;
  failure: string;
  error: string;
  text: string;
  stamps: string;
  instants: Moment[];
  ttft: number | null;
  tpot: number | null;
  e2el: number | null;
  chunks: Chunk[];
  all: number;
}

export interface Records {
  total: number;
  rows: Request[];
}

export interface Asked {
  runs: string[];
  baseline: string;
  level: number;
  margin: number;
  paired: boolean;
  single: boolean;
  predicted: boolean;
  ignore: string[];
  by: string;
  gates: string[];
}

export interface Refused {
  text: string;
  setting: string;
  values: string[];
}

export interface ComparedRun {
  id: string;
  name: string;
  validity: string;
  leg: number;
}

export interface ComparedVariant {
  name: string;
  simulated: boolean;
  said: string;
  runs: ComparedRun[];
}

export interface Difference {
  name: string;
  values: string[];
}

export interface ComparedCell {
  value: string;
  within: string;
  change: string;
  interval: string;
  verdict: string;
  tone: string;
  basis: string;
  why: string;
  relative: number | null;
  low: number | null;
  high: number | null;
  kind: string;
}

export interface ComparedRow {
  name: string;
  title: string;
  unit: string;
  better: string;
  mark: number;
  place: string;
  cells: ComparedCell[];
}

export interface Curve {
  variant: number;
  run: string;
  value: number[];
}

export interface Overlay {
  name: string;
  title: string;
  share: number[];
  curves: Curve[];
}

export interface ComparedLoad {
  name: string;
  settings: string;
  variants: ComparedVariant[];
  results: Said[];
  claims: Said[];
  differs: Difference[];
  further: number;
  idle: number;
  rows: ComparedRow[];
  notes: Said[];
  overlays: Overlay[];
}

export interface Gate {
  text: string;
  load: string;
  variant: string;
  outcome: string;
  title: string;
  said: string;
  tone: string;
}

export interface Comparison {
  asked: Asked;
  refused: Refused | null;
  experiment: string;
  overall: Said;
  simulated: string;
  verdict: Said[];
  notes: Said[];
  loads: ComparedLoad[];
  gates: Gate[];
  marks: Said[];
  level: number;
  margin: number;
  command: string;
  sources: MarkedNote[];
}

export interface ExperimentRow {
  name: string;
  status: string;
  state: string;
  started: string;
  spent: number;
  done: number;
  planned: number;
  at_most: boolean;
  failed: number;
  variants: string[];
  workloads: string[];
  same: boolean;
}

export interface Experiments {
  rows: ExperimentRow[];
  damaged: string[];
}

export interface ExperimentVariant {
  letter: string;
  name: string;
  what: string;
}

export interface LegRun {
  id: string;
  workload: string;
  running: boolean;
}

export interface Leg {
  position: number;
  number: number;
  turn: number;
  attempt: number;
  letter: string;
  variant: string;
  status: string;
  state: string;
  why: string;
  began: string;
  took: number;
  ready: number;
  server: string;
  log: string;
  runs: LegRun[];
}

export interface Block {
  number: number;
  confirms: boolean;
  legs: Leg[];
}

export interface LogLine {
  at: string;
  text: string;
  tone: string;
}

export interface Experiment {
  row: ExperimentRow;
  why: string;
  ended: string;
  sides: ExperimentVariant[];
  blocks: Block[];
  method: Field[];
  looks: number;
  most: number;
  verdict: boolean;
  left: number | null;
  winner: string;
  log: LogLine[];
  advice: string[];
  commands: Command[];
  file: string;
  folder: string;
  stored: string;
}

export interface Note {
  title: string;
  markdown: string;
  html: string;
  refused: Refused | null;
  command: string;
}

export interface SearchRow {
  name: string;
  kind: string;
  status: string;
  end: string;
  started: string;
  model: string;
  url: string;
  simulated: boolean;
  runs: number;
  planned: number;
  terms: string[];
  says: string;
}

export interface Searches {
  rows: SearchRow[];
}

export interface Quantity {
  name: string;
  title: string;
  unit: string;
}

export interface SweepSpread {
  n: number;
  value: number;
  sd: number | null;
  low: number | null;
  high: number | null;
  predicted: boolean;
}

export interface SweepPoint {
  values: string[];
  load: number | null;
  curve: number;
  runs: string[];
  running: boolean;
  same: string;
  failed: string[];
  figures: Record<string, SweepSpread>;
  knee: boolean;
  front: boolean;
  refused: string;
  extrapolated: string;
}

export interface SweepCurve {
  name: string;
  points: number[];
  says: string;
}

export interface Sweep {
  load: string;
  settings: string[];
  devices: number;
  level: number;
  what_if: string[];
  quantities: Quantity[];
  points: SweepPoint[];
  curves: SweepCurve[];
}

export interface CapacityObjective {
  name: string;
  text: string;
  title: string;
  limit: number;
  beyond: number;
}

export interface CapacityLeg {
  number: number;
  load: number;
  by: string;
  why: string;
  run: string;
  running: boolean;
  requests: number;
  failed: number;
  beyond: (number | null)[];
  latency: (number | null)[];
  verdict: string;
  clear: boolean;
  reason: string;
  seconds: number;
}

export interface CapacitySide {
  name: string;
  load: number;
  legs: number;
  requests: number;
  beyond: (number | null)[];
}

export interface Capacity {
  by: string;
  objectives: CapacityObjective[];
  budget: number;
  wanted: number;
  end: string;
  load: number | null;
  precision: number | null;
  passes: number | null;
  fails: number | null;
  binding: number;
  legs: CapacityLeg[];
  sides: CapacitySide[];
}

export interface Search {
  row: SearchRow;
  says: string[];
  command: string;
  sweep: Sweep | null;
  capacity: Capacity | null;
}

export interface PredictedRun {
  id: string;
  name: string;
}

export interface Reach {
  value: number;
  low: number;
  high: number;
  n: number;
}

export interface Deviation {
  name: string;
  title: string;
  unit: string;
  measured: Reach;
  predicted: Reach;
  share: number;
  known: number | null;
}

export interface Prediction {
  profile: string;
  error: string;
  runs: PredictedRun[];
  figures: Deviation[];
}

export interface Predicted {
  load: string;
  measured: PredictedRun[];
  left_out: string;
  predictions: Prediction[];
}

export interface ConformClient {
  name: string;
  command: string;
  format: string;
  started: string;
  place: string;
  start_up: string;
  held: number;
  bounds: number;
}

export interface ConformFigure {
  metric: string;
  statistic: string;
  title: string;
  claimed: number;
  true: number;
  n: number;
  error: string;
  share: number;
  bounded: boolean;
  low: number;
  high: number;
  held: boolean;
  disavowed: boolean;
}

export interface ConformResult {
  client: number;
  runs: number;
  failure: string;
  figures: ConformFigure[];
  facts: Field[];
}

export interface ConformCell {
  name: string;
  load: string;
  results: ConformResult[];
}

export interface ConformErrors {
  client: number;
  arrivals: string;
  title: string;
  streams: number[];
  shares: number[];
}

export interface Conformity {
  clients: ConformClient[];
  cells: ConformCell[];
  errors: ConformErrors[];
  definitions: string[];
  notes: string[];
}

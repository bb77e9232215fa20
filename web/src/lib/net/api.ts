// The API that answers come from: the server of the page or, in a report that is one file, a script
// element of the document with the answers by their paths.

import { connection } from './connection.svelte.ts'

const element = document.getElementById('answers')
const stored: Record<string, unknown> | null = element ? (JSON.parse(element.textContent ?? '{}') as Record<string, unknown>) : null

/** Whether the page is a report that is one file. */
export const report = stored !== null

/** The parameters of a request, in its address. */
export type Parameters = Record<string, string | number | string[]>

/** The address that a report shows; empty where there is no report. */
export const start = typeof stored?.start === 'string' ? stored.start : ''

/** Whether there can be an answer to a path: a report has some of them, a server may have any. */
export function has(path: string): boolean {
  return stored === null || path in stored
}

/** An answer that was refused, in the words of the server. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** The answer to a path such as `runs/ID`, with the parameters that are given. */
export async function ask<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  if (stored) {
    if (path in stored) return stored[path] as T
    throw new Refusal(404, path)
  }
  return (await reach(address(path, parameters), signal ? { signal } : {})).json() as Promise<T>
}

/** The bytes of an answer that is not JSON. */
export async function askBytes(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<ArrayBuffer> {
  if (stored) {
    const encoded = stored[path]
    if (typeof encoded !== 'string') throw new Refusal(404, path)
    return inflate(encoded)
  }
  return (await reach(address(path, parameters), signal ? { signal } : {})).arrayBuffer()
}

/** Send a change to the server: the only way in which the page changes anything. */
export async function change(path: string, body: unknown): Promise<void> {
  await reach(address(path, {}), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

// reach sends a request, and reports to connection whether the server answered.
async function reach(url: string, how: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, how)
  } catch (e) {
    if (!how.signal?.aborted) connection.lost()
    throw e
  }
  connection.heard(response.status)
  if (!response.ok) throw new Refusal(response.status, (await response.text()).trim())
  return response
}

/** The address of an answer, for links and event sources. */
export function address(path: string, parameters: Parameters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [String(value)]) query.append(name, one)
  }
  const text = query.toString()
  return 'api/' + path + (text ? '?' + text : '')
}

// inflate reads bytes that a report holds: raw DEFLATE in base64.
async function inflate(encoded: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Response(stream).arrayBuffer()
}

/** One request of a miner. */
export interface StratumRequest {
  readonly id: string | number | null
  readonly method: string
  readonly params: readonly unknown[]
  /** Name of the worker that some getwork clients send beside the parameters. */
  readonly worker: string | undefined
}

const MAX_PARAMS = 8
const MAX_TEXT = 128

/** Parses a line; undefined when it is no request. */
export const parseStratumRequest = (line: string): StratumRequest | undefined => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { id = null, method, params = [], worker } = value as Readonly<Record<string, unknown>>
  if (typeof method !== 'string' || method.length > MAX_TEXT || !isId(id)) return undefined
  if (!Array.isArray(params) || params.length > MAX_PARAMS) return undefined
  return { id, method, params, worker: typeof worker === 'string' ? worker : undefined }
}

const isId = (id: unknown): id is string | number | null =>
  id === null || (typeof id === 'number' && Number.isFinite(id)) || (typeof id === 'string' && id.length <= MAX_TEXT)

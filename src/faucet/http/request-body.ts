import type { WorkSolution } from '../core/proof-of-work.ts'

/** Fields of a request, of which nothing is checked yet. */
export interface FaucetFields {
  readonly address: unknown
  readonly work: WorkSolution | undefined
}

const workFrom = (challenge: unknown, at: unknown, nonce: unknown): WorkSolution | undefined =>
  typeof challenge === 'string' && typeof nonce === 'string' && nonce !== ''
    ? { challenge, atMs: typeof at === 'number' ? at : Number(at), nonce }
    : undefined

/** Fields of a form. */
export const fieldsOfForm = (body: string): FaucetFields => {
  const form = new URLSearchParams(body)
  return { address: form.get('address'), work: workFrom(form.get('challenge'), form.get('at'), form.get('nonce')) }
}

/** Fields of a JSON object; undefined: the text is none. */
export const fieldsOfJson = (body: string): FaucetFields | undefined => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
  const { address, work } = parsed as { readonly address?: unknown; readonly work?: unknown }
  const { challenge, atMs, nonce } = (typeof work === 'object' && work !== null ? work : {}) as Record<string, unknown>
  return { address, work: workFrom(challenge, atMs, nonce) }
}

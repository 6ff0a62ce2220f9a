import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** One recorded file: exchanges in order, each a request and the answer another client gave. */
export interface RecordedCase {
  readonly name: string
  /** Another client may answer otherwise in the same shape: a search for gas that is less exact, a pool of other contents. */
  readonly isExample: boolean
  readonly exchanges: readonly { readonly request: string; readonly answer: Json }[]
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json }

const DATA = new URL('./data/execution-apis/io.json.gz', import.meta.url)

/** `//` comments, `>> request` and `<< answer`, one a line. */
const parseCase = (name: string, text: string): RecordedCase => {
  const lines = text.split('\n').map(line => line.trim())
  const requests = lines.filter(line => line.startsWith('>>')).map(line => line.slice(2).trim())
  const answers = lines.filter(line => line.startsWith('<<')).map(line => JSON.parse(line.slice(2)) as Json)
  if (requests.length === 0 || requests.length !== answers.length) throw new Error(`${name}: not a recorded exchange`)
  return {
    name,
    // Traces are marked so too, and yet they have one right answer.
    isExample: !name.startsWith('debug_') && lines.some(line => /^\/\/\s*speconly:/.test(line)),
    exchanges: requests.map((request, i) => ({ request, answer: answers[i] as Json })),
  }
}

export const recordedCases = (): readonly RecordedCase[] =>
  Object.entries(JSON.parse(gunzipSync(readFileSync(DATA)).toString()) as Record<string, string>).map(([name, text]) =>
    parseCase(name, text),
  )

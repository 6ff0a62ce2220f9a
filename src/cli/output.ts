import { isCoded } from '../util/errors.ts'
import { explain } from './explain.ts'

/** Prints why a command ended and what to do, and sets the exit status. */
export const fail = (error: unknown): void => {
  process.stderr.write(`tandem: ${messageOf(error)}\n`)
  process.exitCode = 1
}

const messageOf = (error: unknown): string => {
  if (isCoded(error)) return explain(error.detail)
  if (error instanceof Error) return process.env['TANDEM_TRACE'] ? (error.stack ?? error.message) : error.message
  return String(error)
}

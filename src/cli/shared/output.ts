import { isCoded } from '../../util/errors.ts'
import { explain, explainSystem } from './explain-error.ts'

/** Prints why a command ended and what to do, and sets the exit status. */
export const fail = (error: unknown): void => {
  process.stderr.write(`tandem: ${messageOf(error)}\n`)
  process.exitCode = 1
}

/** Prints what an operator should change although the command goes on. */
export const warn = (message: string): void => {
  process.stderr.write(`tandem: warning: ${message}\n`)
}

/** What an error means to whoever reads it, and what to do about it. */
export const messageOf = (error: unknown): string => {
  if (isCoded(error)) return explain(error.detail)
  if (error instanceof Error) {
    if (process.env['TANDEM_TRACE']) return error.stack ?? error.message
    return explainSystem(error) ?? error.message
  }
  return String(error)
}

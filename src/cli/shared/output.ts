import { isCoded } from '@tandem/base/errors.ts'
import { formatExact } from '@tandem/web/amounts.ts'
import { explainError, explainSystemError } from './explain-error.ts'

/** Prints why a command failed and what to do, and sets the exit status. */
export const exitWithError = (error: unknown): void => {
  process.stderr.write(`tandem: ${errorMessage(error)}\n`)
  process.exitCode = 1
}

/** Prints what an operator should change although the command continues. */
export const printWarning = (message: string): void => {
  process.stderr.write(`tandem: warning: ${message}\n`)
}

/** Returns the text of an error for its reader, with what to do about it. */
export const errorMessage = (error: unknown): string => {
  if (isCoded(error)) return explainError(error.detail)
  if (error instanceof Error) {
    if (process.env['TANDEM_TRACE']) return error.stack ?? error.message
    return explainSystemError(error) ?? error.message
  }
  return String(error)
}

/** Formats wei as tokens, with thousands separators and no trailing zeros; without Intl, which takes a tenth of a start to load. */
export const formatTokens = (wei: bigint): string => formatExact(wei, 18)

import { CodedError } from '@tandem/base/errors.ts'
import type { GasBoundError } from '../engine.ts'

/** Error of a message that used more than `EngineOptions.gasBound`. */
export const gasBoundExceeded = (): CodedError<GasBoundError> =>
  new CodedError<GasBoundError>({ code: 'GAS_BOUND_EXCEEDED' })

import { CodedError } from '../../util/errors.ts'
import type { GasBoundError } from '../engine.ts'

/** What an engine throws when a message has used more than `EngineOptions.gasBound`. */
export const gasBoundExceeded = (): CodedError<GasBoundError> =>
  new CodedError<GasBoundError>({ code: 'GAS_BOUND_EXCEEDED' })

import type { EVMBLSInterface, PrecompileInput } from '@ethereumjs/evm'

/*
 * Members of EthereumJS' precompile input that its documentation does not promise: the calling EVM (`_EVM`) and the curve library in it
 * (`_bls`). No other file names them; test/unit/evm/engines/precompile-input.test.ts fails when a version of the package moves them.
 */

/** Source of the moments to yield (`StepClock`). */
interface PrecompileClock {
  /** Returns a promise when it is time to yield. */
  check(): Promise<void> | undefined
}

/** Part of an input that carries the clock to this project's own precompiles. */
export type PacedInput = Pick<PrecompileInput, '_EVM'>

export const pacedInput = (clock: PrecompileClock): PacedInput => ({ _EVM: { clock } }) as unknown as PacedInput

/** Returns the clock of an input made with `pacedInput`. */
export const clockOfInput = ({ _EVM }: PacedInput): PrecompileClock =>
  (_EVM as unknown as { readonly clock: PrecompileClock }).clock

/** Returns the input with the functions that EthereumJS' own BLS precompiles call. */
export const inputWithBls = (input: PrecompileInput, bls: Partial<EVMBLSInterface>): PrecompileInput => ({
  ...input,
  _EVM: { _bls: bls } as unknown as PrecompileInput['_EVM'],
})

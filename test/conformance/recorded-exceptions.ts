/** A recorded exchange that this interface answers otherwise: with which error, and what demands it. */
export interface Exception {
  readonly code: number
  readonly why: string
}

const MISSING_ARGUMENT: Exception = {
  code: -32602,
  why: 'docs/design/rpc.md#arguments: a missing required argument is -32602',
}
const DEVELOPMENT: Exception = { code: -32601, why: 'docs/rpc.md#testing: development chains alone have the method' }

const METHODS: Readonly<Record<string, Exception>> = {
  testing_buildBlockV1: DEVELOPMENT,
}

/** `name` is that of the case, `method` that of one of its requests. The recorded ones take a block that is left out as `latest`. */
export const exceptionOf = (name: string, method: string): Exception | undefined =>
  name.endsWith('-default-block') ? MISSING_ARGUMENT : METHODS[method]

/**
 * Differences that are not compared: forks come by number in the parameters of a chain, so that a recorded chain whose genesis sets some by
 * time, and difficulty bombs, has another fork id; and the deposit contract is no parameter.
 */
const UNCOMPARED = /^answer\.result\.current\.(forkId|systemContracts\.DEPOSIT_CONTRACT_ADDRESS):/

/** Returns true when a difference from the recorded answer counts. */
export const isCompared = (method: string, difference: string): boolean =>
  method !== 'eth_config' || !UNCOMPARED.test(difference)

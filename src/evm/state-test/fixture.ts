import type { AccessListEntry } from '../../primitives/transaction.ts'
import type { Hex } from '../../util/bytes.ts'
import {
  address,
  addressOrNone,
  anyNumber,
  bytes,
  hash,
  index,
  invalid,
  listOf,
  number,
  object,
  orNull,
  recordOf,
  type Shape,
} from './field-readers.ts'

/* Shapes of the public state tests (execution-spec-tests, ethereum/tests). */

export interface FixtureAccount {
  readonly balance: Hex
  readonly nonce: Hex
  readonly code: Hex
  readonly storage: Readonly<Record<Hex, Hex>>
}

export interface FixturePost {
  readonly hash: Hex
  readonly logs: Hex
  readonly indexes: { readonly data: number; readonly gas: number; readonly value: number }
  /** The transaction as it was signed; some suites leave it to be made from the fields. */
  readonly txbytes?: Hex
}

export type FixtureAuthorization = Readonly<
  Record<'chainId' | 'address' | 'nonce' | 'r' | 's', Hex> & { v?: Hex; yParity?: Hex }
>

export interface FixtureTransaction {
  readonly nonce: Hex
  readonly gasPrice?: Hex
  readonly maxFeePerGas?: Hex
  readonly maxPriorityFeePerGas?: Hex
  readonly maxFeePerBlobGas?: Hex
  readonly blobVersionedHashes?: readonly Hex[]
  readonly gasLimit: readonly Hex[]
  readonly value: readonly Hex[]
  readonly data: readonly Hex[]
  readonly to: Hex | ''
  readonly secretKey: Hex
  readonly accessLists?: readonly (readonly AccessListEntry[] | null)[]
  readonly authorizationList?: readonly FixtureAuthorization[]
}

/** How blobs move at a fork, where the file says it. */
export type FixtureBlobs = Readonly<Record<'target' | 'max' | 'baseFeeUpdateFraction', Hex>>

export interface Fixture {
  readonly env: Readonly<
    Record<'currentCoinbase' | 'currentNumber' | 'currentTimestamp' | 'currentGasLimit' | 'currentDifficulty', Hex>
  > & {
    readonly currentBaseFee?: Hex
    readonly currentRandom?: Hex
    readonly currentExcessBlobGas?: Hex
  }
  readonly pre: Readonly<Record<Hex, FixtureAccount>>
  readonly transaction: FixtureTransaction
  readonly post: Readonly<Record<string, readonly FixturePost[]>>
  readonly config?: { readonly blobSchedule?: Readonly<Record<string, FixtureBlobs>> }
}

const ACCOUNT = object({ balance: number, nonce: number, code: bytes, storage: recordOf(number, number) })
const ACCESS_LIST = listOf(object({ address, storageKeys: listOf(number) }))
const AUTHORIZATION = object(
  { chainId: number, address, nonce: number, r: number, s: number },
  { v: number, yParity: number },
)
const TRANSACTION = object(
  {
    nonce: number,
    gasLimit: listOf(number),
    value: listOf(anyNumber),
    data: listOf(bytes),
    to: addressOrNone,
    secretKey: hash,
  },
  {
    gasPrice: number,
    maxFeePerGas: number,
    maxPriorityFeePerGas: number,
    maxFeePerBlobGas: number,
    blobVersionedHashes: listOf(hash),
    accessLists: listOf(orNull(ACCESS_LIST)),
    authorizationList: listOf(AUTHORIZATION),
  },
)
const ENV = object(
  {
    currentCoinbase: address,
    currentNumber: number,
    currentTimestamp: number,
    currentGasLimit: number,
    currentDifficulty: number,
  },
  { currentBaseFee: number, currentRandom: number, currentExcessBlobGas: number },
)
const POST = object(
  { hash, logs: hash, indexes: object({ data: index, gas: index, value: index }) },
  { txbytes: bytes },
)
const BLOBS = object({ target: number, max: number, baseFeeUpdateFraction: number })
const FIXTURE: Shape = object(
  { env: ENV, pre: recordOf(ACCOUNT, address), transaction: TRANSACTION, post: recordOf(listOf(POST)) },
  { config: object({}, { blobSchedule: recordOf(BLOBS) }) },
)

/** The tests of a file by name, not looked into yet. Throws STATE_TEST_INVALID. */
export const readTests = (file: string): Readonly<Record<string, unknown>> => {
  let tests: unknown
  try {
    tests = JSON.parse(file)
  } catch (error) {
    throw invalid('file', `not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  recordOf(() => {})(tests, 'file')
  return tests as Record<string, unknown>
}

/** One of them, its whole shape checked. Throws STATE_TEST_INVALID. */
export const readFixture = (test: unknown): Fixture => {
  FIXTURE(test, 'test')
  return test as Fixture
}

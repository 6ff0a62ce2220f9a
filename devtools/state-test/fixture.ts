import type { Hex } from '@tandem/base/bytes.ts'
import type { AccessListEntry } from '../../src/primitives/transaction/transaction.ts'
import {
  addressField,
  anyNumberField,
  bytesField,
  type FieldReader,
  hashField,
  indexField,
  invalidTest,
  listField,
  nullableField,
  numberField,
  objectField,
  optionalAddressField,
  recordField,
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
  /** The signed transaction; some suites omit it, to be built from the fields. */
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

/** Blob parameters at a fork, where the file sets them. */
type FixtureBlobs = Readonly<Record<'target' | 'max' | 'baseFeeUpdateFraction', Hex>>

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

const ACCOUNT = objectField({
  balance: numberField,
  nonce: numberField,
  code: bytesField,
  storage: recordField(numberField, numberField),
})
const ACCESS_LIST = listField(objectField({ address: addressField, storageKeys: listField(numberField) }))
const AUTHORIZATION = objectField(
  { chainId: numberField, address: addressField, nonce: numberField, r: numberField, s: numberField },
  { v: numberField, yParity: numberField },
)
const TRANSACTION = objectField(
  {
    nonce: numberField,
    gasLimit: listField(numberField),
    value: listField(anyNumberField),
    data: listField(bytesField),
    to: optionalAddressField,
    secretKey: hashField,
  },
  {
    gasPrice: numberField,
    maxFeePerGas: numberField,
    maxPriorityFeePerGas: numberField,
    maxFeePerBlobGas: numberField,
    blobVersionedHashes: listField(hashField),
    accessLists: listField(nullableField(ACCESS_LIST)),
    authorizationList: listField(AUTHORIZATION),
  },
)
const ENV = objectField(
  {
    currentCoinbase: addressField,
    currentNumber: numberField,
    currentTimestamp: numberField,
    currentGasLimit: numberField,
    currentDifficulty: numberField,
  },
  { currentBaseFee: numberField, currentRandom: numberField, currentExcessBlobGas: numberField },
)
const POST = objectField(
  { hash: hashField, logs: hashField, indexes: objectField({ data: indexField, gas: indexField, value: indexField }) },
  { txbytes: bytesField },
)
const BLOBS = objectField({ target: numberField, max: numberField, baseFeeUpdateFraction: numberField })
const FIXTURE: FieldReader = objectField(
  { env: ENV, pre: recordField(ACCOUNT, addressField), transaction: TRANSACTION, post: recordField(listField(POST)) },
  { config: objectField({}, { blobSchedule: recordField(BLOBS) }) },
)

/** Reads the tests of a file by name, without checking them. Throws STATE_TEST_INVALID. */
export const readTests = (file: string): Readonly<Record<string, unknown>> => {
  let tests: unknown
  try {
    tests = JSON.parse(file)
  } catch (error) {
    throw invalidTest('file', `not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  recordField(() => {})(tests, 'file')
  return tests as Record<string, unknown>
}

/** Checks the complete shape of a test. Throws STATE_TEST_INVALID. */
export const readFixture = (test: unknown): Fixture => {
  FIXTURE(test, 'test')
  return test as Fixture
}

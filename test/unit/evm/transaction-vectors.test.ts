import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { forkFromName } from '../../../devtools/state-test/fork.ts'
import { recoverTransaction } from '../../../devtools/state-test/transaction-sender.ts'
import { beginBlock } from '../../../src/evm/block/block-run.ts'
import { invalidReason } from '../../../src/evm/block/transaction-validity.ts'
import { decodeTransaction, type Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import vectors from '../primitives/fixtures/transaction-tests.json' with { type: 'json' }
import { MemoryState, memoryAccount } from '../state/memory-state.ts'
import { env, paramsAt } from './world.ts'

/* TransactionTests of ethereum/tests, each at every fork it names: valid or not, for a sender who can pay. */

interface Vector {
  readonly txbytes: string
  readonly result: Readonly<Record<string, { readonly exception?: string }>>
}

const read = (bytes: string): Transaction | string => {
  try {
    return recoverTransaction(decodeTransaction(hexToBytes(bytes as Hex)))
  } catch (error) {
    if (isCoded(error)) return error.code
    throw error
  }
}

/** Why the transaction is refused at a fork; undefined: it is not. */
const refusalAt = (forkName: string, tx: Transaction): string | undefined => {
  const fork = forkFromName(forkName)
  if (fork === undefined) throw new Error(`unknown fork ${forkName}`)
  const params = {
    ...paramsAt(fork),
    chainId: 1,
    calldataGasPerByte: null,
    maxTxExecutionGas: 2n ** 64n,
    maxBlockExecutionGas: 2n ** 64n,
  }
  // The largest value and its fee are payable, a fee beyond 256 bits is not.
  const account = memoryAccount({ nonce: tx.nonce, balance: 2n ** 256n + 2n ** 64n })
  const journal = new Journal(new MemoryState(new Map([[tx.from, account]])))
  return invalidReason(journal, beginBlock(env({ params, gasLimit: 2n ** 64n, baseFeePerGas: 0n })), tx)?.code
}

test.each(Object.entries(vectors as unknown as Record<string, Vector>))('%s', (_, { txbytes, result }) => {
  const tx = read(txbytes)
  const found = Object.keys(result).map(name => [name, typeof tx === 'string' ? tx : refusalAt(name, tx)] as const)
  const wrong = found.filter(([name, refusal]) => (refusal === undefined) !== (result[name]?.exception === undefined))
  expect(wrong.map(([name, refusal]) => [name, refusal ?? 'accepted', result[name]?.exception ?? 'valid'])).toEqual([])
})

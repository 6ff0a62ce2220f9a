import { readFileSync } from 'node:fs'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { parseAbi } from 'viem'
import { PATIENCE_MS } from '../support/node-process.ts'
import { compileSolidity } from '../support/solidity.ts'

/** The contract of the foundry project, in the words that ethers and viem read. */
export const LEDGER_ABI = parseAbi([
  'constructor(uint256 supply)',
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function buy() payable',
  'function refuse() pure',
  'function divide(uint256 a, uint256 b) pure returns (uint256)',
  'function blockFacts() view returns (uint256 number, uint256 chain, uint256 baseFee)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'error InsufficientBalance(uint256 available, uint256 required)',
])

export interface CompiledLedger {
  /** As solc printed it. */
  readonly abi: readonly unknown[]
  readonly bytecode: Hex
  readonly runtime: Hex
}

export const compileLedger = (): CompiledLedger => {
  const source = readFileSync(new URL('projects/foundry/src/Ledger.sol', import.meta.url), 'utf8')
  const ledger = compileSolidity(source)['Ledger']
  if (!ledger) throw new Error('Ledger.sol holds no Ledger')
  return { abi: ledger.abi, bytecode: bytesToHex(ledger.bytecode), runtime: bytesToHex(ledger.runtime) }
}

export const SINK = '0x000000000000000000000000000000000000dEaD'
export const GWEI = 10n ** 9n
/** Base fee at rest (docs/interface.md#limits) and the price suggested for it (docs/design/money.md#suggested-price: base fee x 1.1). */
export const RESTING_BASE_FEE = 25n * GWEI
export const RESTING_GAS_PRICE = 275n * 10n ** 8n

/** Resolves as soon as `arrived` is called, and fails by itself after `ms`. */
export const signal = <Value>(
  what: string,
  ms = PATIENCE_MS,
): { promise: Promise<Value>; arrived: (value: Value) => void } => {
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  const timer = setTimeout(() => reject(new Error(`${what}: nothing came within ${ms} ms`)), ms)
  void promise.finally(() => clearTimeout(timer)).catch(() => undefined)
  return { promise, arrived: resolve }
}

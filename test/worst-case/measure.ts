import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'
import { executionRulesAt } from '../../src/rules/execution-rules.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { env, GAS_PRICE, key, paramsAt, signed } from '../unit/evm/world.ts'
import type { DiskWorld } from './disk.ts'
import type { AnyGenes, Family } from './family.ts'
import { RICH } from './family.ts'

const sender = key(1)
/** A block's transactions may not have more gas than this each. */
export const MAX_TRANSACTION_GAS = 100_000_000n

/** Warms up caches and compilers. Less would not pay for the longest input: 37 kB at 100 gas a byte. */
export const WARM_UP_GAS = 5_000_000n

/** Processor time of the whole process, its helper threads included. */
export interface Cost {
  readonly gas: bigint
  readonly cpuMs: number
}

export const msPerMillionGas = ({ gas, cpuMs }: Cost): number => (cpuMs * 1e6) / Number(gas)

const cpuMsSince = (start: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

/** Repeats the transactions until each share of the gas fits the fork's cap on one (EIP-7825). */
const withinGasCap = <T>(transactions: readonly T[], gas: bigint, cap: bigint | null): readonly T[] => {
  const times = cap === null ? 1 : Math.ceil(Number(gas) / transactions.length / Number(cap))
  return Array.from({ length: times }, () => transactions).flat()
}

/** Runs blocks of cases from their start to the root of the state after them. */
export class Meter {
  readonly #mode: ExecutionMode
  readonly #disk: DiskWorld

  constructor(mode: ExecutionMode, disk: DiskWorld) {
    this.#mode = mode
    this.#disk = disk
  }

  async measure(family: Family, genes: AnyGenes, gas: bigint): Promise<Cost> {
    const { accounts, transactions, fork = 'cancun' } = family.build(genes, gas)
    const executor = createExecutor({ mode: this.#mode, logger: silentLogger })
    const head = this.#disk.coldHead()
    const journal = new Journal(head)
    for (const { address, code, balance } of accounts) {
      if (balance !== undefined) journal.setBalance(address, balance)
      if (code !== undefined) journal.setCode(address, code)
    }
    journal.setBalance(sender.address, RICH)
    journal.endTransaction()
    const block = env({ params: paramsAt(fork) })
    const whole = withinGasCap(transactions, gas, executionRulesAt(block.params, block.number).transactionGasCap)
    const each = gas / BigInt(whole.length)
    const signedOnes = whole.map((fields, nonce) =>
      signed(sender, { nonce, gasLimit: each, maxFeePerGas: GAS_PRICE, data: EMPTY_BYTES, ...fields }),
    )
    const start = process.cpuUsage()
    const { gasUsed } = await executor.execute(journal, block, signedOnes)
    await this.#disk.seal(journal.changes())
    const cost = { gas: gasUsed, cpuMs: cpuMsSince(start) }
    await head.close()
    return cost
  }
}

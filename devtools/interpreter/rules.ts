import { EVM_FORKS, type EvmFork, isForkSince } from '../../src/config/forks.ts'

/** Fork rules of the interpreter, besides the set of opcodes (loop/table.ts). Prices in gas. */
export interface EvmRules {
  readonly fork: EvmFork
  /** EIP-2929: the first access to an account or slot costs more; the access prices below do not apply. */
  readonly hasAccessPrices: boolean
  /** EIP-150: a call passes on at most all but a 64th. */
  readonly keepsSixtyFourth: boolean
  /** EIP-150: a self-destruct whose beneficiary is a new account pays for it. */
  readonly chargesNewBeneficiary: boolean
  /** EIP-158 and EIP-161: empty accounts do not count as existing, and created ones start with nonce 1. */
  readonly sweepsEmpty: boolean
  /** EIP-2: a creation fails when its code cannot be paid for. */
  readonly codeMustBePaid: boolean
  /** EIP-3541. */
  readonly refusesObjectFormat: boolean
  /** EIP-4399: the opcode of the difficulty has another name. */
  readonly hasRandao: boolean
  /** EIP-3860. */
  readonly boundsInitCode: boolean
  /** EIP-3651. */
  readonly warmsCoinbase: boolean
  /** EIP-6780: only accounts created in the same transaction are destroyed. */
  readonly destroysOnlyNew: boolean
  /** EIP-7702. */
  readonly hasDelegation: boolean
  readonly sstore: 'frontier' | 'eip1283' | 'eip2200' | 'eip2929'
  readonly call: number
  readonly balance: number
  readonly extCode: number
  readonly extCodeHash: number
  readonly sload: number
  readonly selfDestruct: number
  readonly expByte: number
  readonly clearRefund: number
  readonly selfDestructRefund: number
}

const sstoreRule = (fork: EvmFork, since: (name: EvmFork) => boolean): EvmRules['sstore'] => {
  if (since('berlin')) return 'eip2929'
  if (since('istanbul')) return 'eip2200'
  return fork === 'constantinople' ? 'eip1283' : 'frontier'
}

/** EIP-150, EIP-1884. */
const accessPrices = (since: (name: EvmFork) => boolean) => ({
  call: since('tangerineWhistle') ? 700 : 40,
  balance: since('istanbul') ? 700 : since('tangerineWhistle') ? 400 : 20,
  extCode: since('tangerineWhistle') ? 700 : 20,
  extCodeHash: since('istanbul') ? 700 : 400,
  sload: since('istanbul') ? 800 : since('tangerineWhistle') ? 200 : 50,
})

const build = (fork: EvmFork): EvmRules => {
  const since = (name: EvmFork): boolean => isForkSince(fork, name)
  return {
    fork,
    hasAccessPrices: since('berlin'),
    keepsSixtyFourth: since('tangerineWhistle'),
    chargesNewBeneficiary: since('tangerineWhistle'),
    sweepsEmpty: since('spuriousDragon'),
    codeMustBePaid: since('homestead'),
    refusesObjectFormat: since('london'),
    hasRandao: since('paris'),
    boundsInitCode: since('shanghai'),
    warmsCoinbase: since('shanghai'),
    destroysOnlyNew: since('cancun'),
    hasDelegation: since('prague'),
    sstore: sstoreRule(fork, since),
    ...accessPrices(since),
    selfDestruct: since('tangerineWhistle') ? 5_000 : 0,
    // EIP-160.
    expByte: since('spuriousDragon') ? 50 : 10,
    // EIP-3529.
    clearRefund: since('london') ? 4_800 : 15_000,
    selfDestructRefund: since('london') ? 0 : 24_000,
  }
}

const rules = new Map(EVM_FORKS.map(fork => [fork, build(fork)]))

export const evmRulesOf = (fork: EvmFork): EvmRules => rules.get(fork) as EvmRules

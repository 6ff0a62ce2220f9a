import { createHash, createHmac } from 'node:crypto'
import type { Hex } from '@tandem/base/bytes.ts'
import { FAUCET_LIMITS, type FaucetPolicy } from '../config/limits/faucet.ts'
import { refusalError } from './grant-rule.ts'

const CHALLENGE_CHARS = 32
const MAX_NONCE_CHARS = 16

/** Puzzle of a moment: find a nonce such that sha256(`challenge:address:nonce`) begins with `bits` zero bits. */
export interface WorkPuzzle {
  readonly challenge: string
  /** Milliseconds since the epoch, which belong to the challenge. */
  readonly atMs: number
  readonly bits: number
}

/** Solution of a puzzle for one address. */
export interface WorkSolution {
  readonly challenge: string
  readonly atMs: number
  readonly nonce: string
}

/** Harder by two bits when more than half of a day's grants are gone, so that the rest lasts longer. */
export const workBitsOf = ({ workBits, dailyGrants }: FaucetPolicy, granted: number): number =>
  workBits === 0 ? 0 : workBits + (2 * granted > dailyGrants ? 2 : 0)

/** Challenges are bound to their time by a secret of this process, so none can be solved in advance. */
export const createProofOfWork = (secret: Uint8Array) => {
  const challengeAt = (atMs: number): string =>
    createHmac('sha256', secret).update(String(atMs)).digest('hex').slice(0, CHALLENGE_CHARS)

  return {
    puzzle(nowMs: number, bits: number): WorkPuzzle {
      return { challenge: challengeAt(nowMs), atMs: nowMs, bits }
    },

    /** Costs two hashes. Throws WORK_INVALID. */
    check(address: Hex, { challenge, atMs, nonce }: WorkSolution, nowMs: number, bits: number): void {
      const isOld = !Number.isSafeInteger(atMs) || atMs > nowMs || nowMs - atMs > FAUCET_LIMITS.workMs
      if (isOld)
        throw refusalError({ code: 'WORK_INVALID', reason: 'The proof of work is too old: load the page again.' })
      if (nonce.length > MAX_NONCE_CHARS || challenge !== challengeAt(atMs))
        throw refusalError({
          code: 'WORK_INVALID',
          reason: 'The proof of work is not for this faucet: load the page again.',
        })
      const hash = createHash('sha256').update(`${challenge}:${address}:${nonce}`).digest()
      if (leadingZeroBits(hash) < bits)
        throw refusalError({ code: 'WORK_INVALID', reason: 'The proof of work is not one for this address.' })
    },
  }
}

const leadingZeroBits = (hash: Uint8Array): number => {
  const first = hash.findIndex(byte => byte !== 0)
  return first < 0 ? hash.length * 8 : first * 8 + Math.clz32(hash[first] as number) - 24
}

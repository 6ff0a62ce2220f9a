import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { CONSENSUS_BOUNDS } from '../../../../src/config/protocol-bounds.ts'
import { encodeEvidence } from '../../../../src/consensus/evidence/codec.ts'
import { accusedIn, type Evidence, type EvidenceStore } from '../../../../src/consensus/evidence/evidence.ts'
import { EvidenceRelay } from '../../../../src/consensus/evidence/evidence-relay.ts'
import { createSignatureVerifier } from '../../../../src/consensus/signer/signature-verifier.ts'
import { messageDigest } from '../../../../src/consensus/wal/sign-message.ts'
import { recoverAddress, sign } from '../../../../src/crypto/signature.ts'
import { block, prepare } from '../../../support/consensus/core-bench.ts'
import { committeeOf, DOMAIN, keyOf } from '../../../support/consensus/member.ts'

const COMMITTEE = committeeOf(4)
const { isSigned } = createSignatureVerifier(DOMAIN, recoverAddress, 1_000)
const vote = (sender: number, name: number, number: number, key = sender) => {
  const unsigned = prepare(sender, 0, block(name, 0), number)
  return { ...unsigned, signature: sign(messageDigest(DOMAIN, unsigned), keyOf(key)) }
}
/** Two prepares of one member at one height. */
const against = (sender: number, number: number, names: readonly [number, number] = [1, 2]): Evidence => ({
  kind: 'conflict',
  first: vote(sender, names[0], number),
  second: vote(sender, names[1], number),
})
const forged = (sender: number, number: number): Evidence => ({
  kind: 'conflict',
  first: vote(sender, 1, number),
  second: vote(sender, 2, number, 3 - sender),
})

/** Keeps one piece against each member, of a height up to 20. */
class Desk implements EvidenceStore {
  readonly kept: Evidence[] = []
  isOfUse(evidence: Evidence): boolean {
    const { number, sender } = accusedIn(evidence)
    return number <= 20 && this.kept.every(other => accusedIn(other).sender !== sender)
  }
  report(evidence: Evidence): boolean {
    if (!this.isOfUse(evidence)) return false
    this.kept.push(evidence)
    return true
  }
  async written(): Promise<void> {}

  held(): readonly Uint8Array[] {
    return this.kept.map(encodeEvidence)
  }
}

/** Nodes that hear everything the others pass on. */
const group = (size: number) => {
  const listeners = new Map<number, (encoded: Uint8Array, from: string) => void>()
  const pools = Array.from({ length: size }, () => new Desk())
  const reported: string[] = []
  const counts = { passed: 0, checked: 0 }
  const nodes = pools.map((desk, index) => {
    const node = new EvidenceRelay({
      evidencePool: desk,
      committees: { committee: number => (number === 12 ? undefined : COMMITTEE) },
      isSigned: (signed, committee) => {
        counts.checked++
        return isSigned(signed, committee)
      },
      network: {
        broadcast: encoded => {
          counts.passed++
          for (const [to, listener] of [...listeners]) if (to !== index) listener(encoded, String(index))
        },
        onReceived: listener => {
          listeners.set(index, listener)
          return () => listeners.delete(index)
        },
        misbehaved: peer => reported.push(peer),
      },
      logger: silentLogger,
    })
    node.start()
    return node
  })
  const tell = (encoded: Uint8Array) => listeners.get(0)?.(encoded, 'stranger')
  return { nodes, pools, reported, counts, tell }
}

describe('evidence between nodes', () => {
  test('found by one it reaches the pools of all, once, whatever else there is against the same member', () => {
    const { nodes, pools, counts, reported } = group(4)
    nodes[0]!.report(against(2, 9))
    nodes[1]!.report(against(2, 9, [3, 4]))
    nodes[3]!.report(against(2, 8))
    nodes[3]!.report(against(1, 8))
    for (const { kept } of pools) expect(kept.map(evidence => accusedIn(evidence).sender)).toEqual([2, 1])
    expect(counts.passed).toBe(8)
    expect(reported).toEqual([])
  })

  test('who comes later hears what is still held', () => {
    const { nodes, pools } = group(3)
    nodes[2]!.stop()
    nodes[0]!.report(against(2, 9))
    nodes[2]!.start()
    expect(pools.map(({ kept }) => kept.length)).toEqual([1, 1, 0])
    nodes[1]!.remind()
    expect(pools.map(({ kept }) => kept.length)).toEqual([1, 1, 1])
  })

  test('false evidence accuses no member, and its sender is reported', () => {
    const { pools, tell, reported } = group(2)
    const tooLong = new Uint8Array(CONSENSUS_BOUNDS.evidenceBytes + 1)
    const honest = encodeEvidence(against(2, 9, [1, 1]))
    const lies = [encodeEvidence(forged(2, 9)), honest, new Uint8Array(0), Uint8Array.of(0xc0), tooLong]
    for (const lie of lies) tell(lie)
    expect(reported).toEqual(lies.map(() => 'stranger'))
    expect(pools.map(({ kept }) => kept)).toEqual([[], []])
    // Nor does it keep the truth out.
    tell(encodeEvidence(against(2, 9)))
    expect(pools.map(({ kept }) => kept.length)).toEqual([1, 1])
  })

  test('what is of no use, or of an unknown committee, costs no signature', () => {
    const { nodes, tell, counts, reported } = group(1)
    nodes[0]!.report(against(2, 9))
    for (let name = 3; name < 50; name += 2) tell(encodeEvidence(against(2, 9, [name, name + 1])))
    tell(encodeEvidence(against(1, 21)))
    tell(encodeEvidence(against(1, 12)))
    expect([counts.checked, reported.length]).toEqual([0, 0])
  })

  test('a stopped one hears nothing', () => {
    const { nodes, pools, tell } = group(1)
    nodes[0]!.stop()
    tell(encodeEvidence(against(2, 9)))
    expect(pools.map(({ kept }) => kept)).toEqual([[]])
  })
})

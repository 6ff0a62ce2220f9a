import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import type { CouncilMemberStatus } from '../../../src/chain/store/types.ts'
import { createChainView } from '../../../src/chain/view.ts'
import { councilTransaction, STAKE } from '../../support/council-contract.ts'
import { councilGenesis, rewardOf, validatorKey, validatorOf } from '../../support/council-genesis.ts'
import { type CouncilNet, withNet } from '../../support/council-net.ts'
import { MemoryChain } from '../../support/rpc/memory-chain.ts'
import { Rig } from '../../support/rpc/rig.ts'

const CYCLE = 4

const withRig = async (net: CouncilNet, use: (rig: Rig) => Promise<void>) => {
  const { first } = net
  const unused = () => Promise.reject(new Error('nobody asks'))
  const view = createChainView({
    ...first,
    params: net.genesis.params,
    foundation: net.genesis.foundation,
    council: first.sources.council,
    pending: { state: unused } as never,
    wideLogs: unused,
  })
  const rig = await Rig.start({ view })
  try {
    await use(rig)
  } finally {
    await rig.stop()
  }
}

/** Server of a chain whose council has so many active members, a third more inactive ones, and committees of 31. */
const withCouncil = async (active: number, use: (rig: Rig) => Promise<void>) => {
  const members = Array.from({ length: Math.ceil((4 * active) / 3) }, (_, index) => validatorOf(index))
  const statusOf = (index: number) => (index < active ? 'active' : 'inactive')
  const status = members.map((validator, index) => ({ validator, status: statusOf(index) }) as CouncilMemberStatus)
  const council = { council: () => status, committee: () => members.slice(0, Math.min(active, 31)) }
  const rig = await Rig.start({ view: Object.assign(new MemoryChain(), council) })
  try {
    await use(rig)
  } finally {
    await rig.stop()
  }
}

test.each([
  [4, 1],
  [31, 10],
  [64, 10],
  [100, 11],
  [200, 16],
])('a council of %i active members tolerates %i faulty ones', (active, tolerated) =>
  withCouncil(active, async rig => {
    expect(await rig.result('native_getCouncilSize')).toBe(active)
    expect(await rig.result('native_getCouncilTolerance')).toBe(tolerated)
    expect(await rig.result('native_getCouncilTolerance', ['0x0'])).toBe(tolerated)
  }),
)

const at = (number: number): Hex => `0x${number.toString(16)}`

test('councils and committees answer at every height, those of cycles that are over too', () =>
  withNet(councilGenesis(1, { rewards: { cycleBlocks: CYCLE } }), 1, async net => {
    const args = ['Second', validatorOf(1), rewardOf(1)]
    await net.submit(await councilTransaction(net.first, validatorKey(1), 'register', args, STAKE))
    await net.mine()
    await net.mineTo(2 * CYCLE)
    await net.submit(await councilTransaction(net.first, validatorKey(0), 'requestExit', [validatorOf(0)]))
    await net.mineTo(4 * CYCLE)
    const [one, both, other] = [[validatorOf(0)], [validatorOf(0), validatorOf(1)], [validatorOf(1)]]
    await withRig(net, async rig => {
      const expected = (number: number) => (number <= 2 * CYCLE ? one : number <= 4 * CYCLE ? both : other)
      for (let number = 0; number <= 4 * CYCLE; number++) {
        expect(await rig.result('native_getCouncil', [at(number)])).toEqual(expected(number))
        expect(await rig.result('native_getCouncilSize', [at(number)])).toBe(expected(number).length)
        const committee = await rig.result<Hex[]>('native_getCommittee', [at(number)])
        expect([...committee].sort()).toEqual([...expected(number)].sort())
        expect(await rig.result('native_getCommitteeSize', [at(number)])).toBe(expected(number).length)
      }
      // Without a block: of the next one, whose cycle has another council.
      expect(await rig.result('native_getCouncil', [])).toEqual(other)
      expect(await rig.result('native_getCommittee', [])).toEqual(other)
      expect(await rig.result('native_getCouncil', ['latest'])).toEqual(both)
      expect(await rig.result('native_getStakingInfo', [at(3 * CYCLE)])).toEqual([
        {
          name: 'Validator 0',
          validator: validatorOf(0),
          owner: validatorOf(0),
          reward: rewardOf(0),
          stake: '0x1e5b8fa8fe2ac0000',
          status: 'active',
        },
        {
          name: 'Second',
          validator: validatorOf(1),
          owner: validatorOf(1),
          reward: rewardOf(1),
          stake: '0x1e5b8fa8fe2ac0000',
          status: 'active',
        },
      ])
      await expect(rig.result('native_getCouncil', [at(4 * CYCLE + 1)])).rejects.toThrow(/does not exist/)
    })
  }))

test('blocks say which committee decided them and how many sealed', () =>
  withNet(councilGenesis(5, { rewards: { cycleBlocks: CYCLE } }), 1, async net => {
    await net.mineTo(3, {})
    await net.mineTo(6, { silent: [validatorOf(4)] })
    await withRig(net, async rig => {
      interface Info {
        readonly proposer: Hex
        readonly consensus: Record<'round' | 'prepareMsgNum' | 'commitMsgNum', number> & { readonly validators: Hex[] }
      }
      const blocks = await rig.result<Info[]>('native_getBlockWithConsensusInfoRange', [at(0), at(6)])
      expect(blocks.map(({ consensus }) => consensus.commitMsgNum)).toEqual([0, 5, 5, 5, 4, 4, 4])
      expect(blocks.map(({ consensus }) => consensus.prepareMsgNum)).toEqual([0, 4, 4, 4, 4, 4, 4])
      for (const [number, { proposer, consensus }] of blocks.entries()) {
        expect([...consensus.validators].sort()).toEqual([0, 1, 2, 3, 4].map(validatorOf).sort())
        if (number > 0) expect(consensus.validators[consensus.round]).toBe(proposer)
      }
      expect(await rig.result('native_getBlockWithConsensusInfo', [at(5), false])).toEqual(blocks[5])
      await expect(rig.result('native_getBlockWithConsensusInfoRange', [at(0), at(100)])).rejects.toThrow(/at most 100/)
    })
  }))

test('a certificate names the committee by index, who of it signed, and their seals', () =>
  withNet(councilGenesis(5, { rewards: { cycleBlocks: CYCLE } }), 1, async net => {
    await net.mineTo(6, { silent: [validatorOf(4)] })
    await withRig(net, async rig => {
      interface Signed {
        readonly blockHash: Hex
        readonly committee: readonly Hex[]
        readonly signers: readonly Hex[]
        readonly seals: readonly Hex[]
      }
      for (const number of [1, 5, 6]) {
        const block = await net.first.blocks.block(number)
        const signed = await rig.result<Signed>('native_getCertificate', [at(number)])
        expect(signed.blockHash).toBe(block?.hash)
        expect(signed.committee).toEqual(net.committee(number).members)
        expect(signed.signers).toEqual(signed.committee.filter(member => member !== validatorOf(4)))
        expect(signed.seals).toHaveLength(signed.signers.length)
      }
      for (const ref of [at(0), 'pending', at(7), `0x${'5a'.repeat(32)}`])
        expect(await rig.result('native_getCertificate', [ref])).toBeNull()
    })
  }))

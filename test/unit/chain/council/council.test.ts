import type { Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { decodeCouncil, encodeCouncil, readRecordRows } from '../../../../src/chain/council/council-rows.ts'
import { verifyChain } from '../../../../src/chain/verify-chain.ts'
import { parseGenesis } from '../../../../src/config/genesis/genesis.ts'
import { CONSENSUS_LIMITS } from '../../../../src/config/limits/consensus.ts'
import { COUNCIL_ADDRESS, NETWORKS } from '../../../../src/config/networks.ts'
import { EVIDENCE_BOUNDS } from '../../../../src/config/protocol-bounds.ts'
import { encodeEvidence } from '../../../../src/consensus/evidence/codec.ts'
import type { Evidence } from '../../../../src/consensus/evidence/evidence.ts'
import { blockFromParts, hashByteStrings } from '../../../../src/primitives/block.ts'
import { decodeExtraData, encodeExtraData } from '../../../../src/primitives/consensus/extra-data.ts'
import { encodeRlp } from '../../../../src/primitives/rlp/rlp.ts'
import { jailedAtSlot } from '../../../../src/rules/council/council-storage.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { ACCOUNT_KEYS, ACCOUNTS, devGenesis, type TestChain, VALIDATOR, withChain } from '../../../support/chain.ts'
import { ask, councilTransaction, refusal, STAKE, transact } from '../../../support/council-contract.ts'
import { councilGenesis, FOUNDATION, rewardOf, validatorKey, validatorOf } from '../../../support/council-genesis.ts'
import { type CouncilNet, withNet } from '../../../support/council-net.ts'

const CYCLE = 4
const ALICE = ACCOUNTS[0] as Hex
const short = (params: Record<string, unknown> = {}) => ({ rewards: { cycleBlocks: CYCLE }, ...params })
const voted = { council: { openRegistration: false, unbondingSeconds: 0 } }
const validators = (...indexes: readonly number[]): readonly Hex[] => indexes.map(validatorOf).sort()
const sorted = (members: readonly Hex[]): readonly Hex[] => [...members].sort()

/** All on one chain's pool, which is the builder of one block in three: gossip to all. */
const send = async (net: CouncilNet, index: number, name: string, args: readonly unknown[], value = 0n) =>
  net.submit(await councilTransaction(net.first, validatorKey(index), name, args, value))

const register = async (net: CouncilNet, index: number) =>
  send(net, index, 'register', [`Validator ${index}`, validatorOf(index), rewardOf(index)], STAKE)

/** To the first block whose committee can know what the head's state says: of the cycle after the next. */
const settle = async (net: CouncilNet) => net.mineTo((Math.floor((net.number - 1) / CYCLE) + 2) * CYCLE)

const serving = (net: CouncilNet) => sorted(net.committee(net.number + 1).members)

describe('the council of a chain', () => {
  test('grows and shrinks by votes, 1 -> 2 -> 4 -> 7 -> 4 -> 3, on every chain alike, through restarts', () =>
    withNet(councilGenesis(1, short(voted)), 3, async net => {
      const admit = async (newcomers: readonly number[], voters: readonly number[]) => {
        for (const index of newcomers) await register(net, index)
        await net.mine()
        for (const index of newcomers)
          for (const voter of voters) await send(net, voter, 'approve', [validatorOf(index)])
        await net.mine()
        await settle(net)
      }
      await admit([1], [0])
      expect(serving(net)).toEqual(validators(0, 1))
      // One at a time: the second needs the votes of two thirds of three.
      await admit([2], [0, 1])
      await admit([3], [0, 1, 2])
      expect(serving(net)).toEqual(validators(0, 1, 2, 3))
      await net.restart()
      expect(serving(net)).toEqual(validators(0, 1, 2, 3))
      for (const [newcomer, voters] of [
        [4, [0, 1, 2]],
        [5, [0, 1, 2, 3]],
        [6, [0, 1, 2, 3, 4]],
      ] as const)
        await admit([newcomer], voters)
      expect(serving(net)).toEqual(validators(0, 1, 2, 3, 4, 5, 6))
      for (const index of [1, 3, 5]) await send(net, index, 'requestExit', [validatorOf(index)])
      await net.mine()
      await settle(net)
      expect(serving(net)).toEqual(validators(0, 2, 4, 6))
      await send(net, 0, 'requestExit', [validatorOf(0)])
      await net.mine()
      await net.restart()
      await settle(net)
      expect(serving(net)).toEqual(validators(2, 4, 6))
      const { problems } = await verifyChain(net.first.store, { from: 0 })
      expect(problems).toEqual([])
      // Every height still answers for itself.
      expect(net.committee(1).members).toEqual(validators(0))
      expect(net.first.failures).toEqual([])
    }))

  test('admitted at once, members begin to serve a few a cycle, in the order of their admission, through restarts', () =>
    withNet(councilGenesis(4, short()), 2, async net => {
      for (const index of [4, 5, 6, 7, 8, 9, 10]) await register(net, index)
      await net.mine()
      await settle(net)
      const statuses = () =>
        (net.first.sources.council.memberStatuses(net.number + 1) ?? []).map(({ status }) => status)
      const served: (readonly Hex[])[] = []
      for (let cycle = 0; cycle < 5; cycle++) {
        served.push(serving(net))
        if (cycle === 1) await net.restart()
        await net.mineTo(net.number + CYCLE)
      }
      // Four are a quorum of six. A cycle later the two new ones have not served yet; two cycles later six are a quorum of nine.
      expect(served).toEqual([6, 6, 9, 9, 11].map(count => validators(...Array(count).keys())))
      expect(statuses()).toEqual(Array(11).fill('active'))
      const first = (net.first.sources.council.memberStatuses(2 * CYCLE + 1) ?? []).map(({ status }) => status)
      expect(first).toEqual([...Array(6).fill('active'), ...Array(5).fill('queued')])
      const { problems } = await verifyChain(net.first.store, { from: 0 })
      expect(problems).toEqual([])
      expect(net.first.failures).toEqual([])
    }))

  test('new members whose nodes are away never halt the chain, however many are admitted', () =>
    withNet(councilGenesis(4, short({ council: { inactiveBlocks: 4 * CYCLE } })), 1, async net => {
      const away = [4, 5, 6, 7, 8, 9, 10]
      for (const index of away) await register(net, index)
      // A block without a quorum fails.
      await net.mineTo(10 * CYCLE, { silent: away.map(validatorOf) })
      const statuses = (net.first.sources.council.memberStatuses(net.number) ?? []).map(({ status }) => status)
      expect(statuses.filter(status => status === 'queued').length).toBeGreaterThan(0)
    }))

  test('serves the cycle after the next, and no earlier', () =>
    withNet(councilGenesis(1, short()), 2, async net => {
      await register(net, 1)
      await net.mine()
      const sizes: number[] = []
      for (let number = 1; number <= 3 * CYCLE; number++) {
        await net.mineTo(number - 1)
        sizes.push(net.committee(number).members.length)
      }
      expect(sizes).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2])
      expect(net.first.sources.council.memberStatuses(2 * CYCLE)).toHaveLength(1)
      expect(net.first.sources.council.memberStatuses(2 * CYCLE + 1)).toMatchObject([
        { name: 'Validator 0', status: 'active' },
        { name: 'Validator 1', owner: validatorOf(1), stakeWei: STAKE },
      ])
      expect(net.first.sources.council.committee(6 * CYCLE)).toBeUndefined()
    }))

  test('never holds a candidate without votes', () =>
    withNet(councilGenesis(4, short(voted)), 2, async net => {
      await register(net, 5)
      await net.mine()
      await send(net, 0, 'approve', [validatorOf(5)])
      await send(net, 1, 'approve', [validatorOf(5)])
      await net.mineTo(4 * CYCLE)
      expect(serving(net)).toEqual(validators(0, 1, 2, 3))
      expect(net.first.sources.council.memberStatuses(net.number + 1)).toHaveLength(4)
    }))

  test('draws the same places whatever key a newcomer has, and none before the seed is out', () => {
    const drawnWith = async (newcomer: number): Promise<readonly (readonly number[])[]> => {
      const drawn: (readonly number[])[] = []
      await withNet(councilGenesis(7, short({ committeeSize: 4 })), 1, async net => {
        await register(net, newcomer)
        await net.mineTo(12 * CYCLE)
        for (let cycle = 0; cycle < 12; cycle++) {
          const { members } = net.committee(cycle * CYCLE + 1)
          const seats = net.first.sources.council.memberStatuses(cycle * CYCLE + 1) ?? []
          drawn.push(members.map(member => seats.find(({ validator }) => validator === member)?.admission ?? 0))
        }
      })
      return drawn
    }
    return Promise.all([7, 8, 9].map(drawnWith)).then(([one, ...others]) => {
      for (const other of others) expect(other).toEqual(one)
      // The council of cycle 2 has it; its number can be drawn from cycle 3 on.
      expect(one?.findIndex(members => members.includes(8))).toBeGreaterThan(2)
    })
  })

  test('draws no more than committeeSize, and every possible proposer is one of them', () =>
    withNet(councilGenesis(7, short({ committeeSize: 4 })), 2, async net => {
      const drawn = new Set<string>()
      for (let cycle = 0; cycle < 4; cycle++) {
        const { members } = net.committee(net.number + 1)
        expect(new Set(members).size).toBe(4)
        drawn.add(members.join())
        const from = net.number + 1
        await net.mineTo(net.number + CYCLE)
        const proposers = await Promise.all(
          Array.from({ length: CYCLE }, async (_, at) => (await net.first.blocks.header(from + at))?.extra.proposer),
        )
        expect(sorted(proposers as Hex[])).toEqual(sorted(members))
      }
      expect(drawn.size).toBeGreaterThan(1)
    }))
})

describe('a silent member', () => {
  const params = short({ council: { inactiveBlocks: 2 * CYCLE } })

  test('is put out after its window, comes back, and stays when it seals', () =>
    withNet(councilGenesis(5, params), 2, async net => {
      const gone = validatorOf(2)
      const status = () =>
        net.first.sources.council.memberStatuses(net.number + 1)?.find(({ validator }) => validator === gone)?.status
      const first: Record<string, number> = {}
      const away = { silent: [gone] }
      const watch = async (until: string, turn = {}) => {
        for (let tries = 0; status() !== until; tries++) {
          if (tries > 12 * CYCLE) throw new Error(`never ${until}`)
          await net.mine(turn)
        }
        first[until] = net.number + 1
      }
      await watch('inactive', away)
      // Two cycles of certificates, of which genesis has none, and one cycle until it counts.
      expect(first['inactive']).toBe(4 * CYCLE + 1)
      expect(serving(net)).toEqual(validators(0, 1, 3, 4))
      await net.restart()
      expect(serving(net)).toEqual(validators(0, 1, 3, 4))
      await watch('active')
      const back = net.number
      expect(serving(net)).toEqual(validators(0, 1, 2, 3, 4))
      await net.mineTo(back + 4 * CYCLE)
      expect(serving(net)).toEqual(validators(0, 1, 2, 3, 4))
      expect(status()).toBe('active')
    }))

  test('and another and another: two of seven are out, the third serves on, however long it is silent', () =>
    withNet(councilGenesis(7, params), 1, async net => {
      const gone: Hex[] = []
      for (const index of [2, 4, 5]) {
        gone.push(validatorOf(index))
        await net.mineTo(net.number + 6 * CYCLE, { silent: gone })
      }
      const silent = net.first.sources.council
        .memberStatuses(net.number + 1)
        ?.filter(({ status }) => status === 'inactive')
      expect(silent?.map(({ validator }) => validator)).toEqual(gone)
      expect(serving(net)).toHaveLength(5)
      expect(serving(net)).toEqual(expect.arrayContaining([...validators(0, 1, 3, 6)]))
      // A member that is back seals again, and serves.
      await net.mineTo(net.number + 6 * CYCLE, { silent: gone.slice(1) })
      expect(serving(net)).toEqual(expect.arrayContaining([...validators(0, 1, 2, 3, 6)]))
    }))

  test('of a council of four keeps its seat', () =>
    withNet(councilGenesis(4, params), 2, async net => {
      await net.mineTo(6 * CYCLE, { silent: [validatorOf(3)] })
      expect(net.first.sources.council.memberStatuses(net.number + 1)).toMatchObject([
        {},
        {},
        {},
        { status: 'inactive' },
      ])
      expect(serving(net)).toEqual(validators(0, 1, 2, 3))
    }))
})

describe('evidence', () => {
  const [offender, key] = [validatorOf(1), validatorKey(1)]

  test('jails its offender once, in the same block on every chain, and for good', () =>
    withNet(councilGenesis(5, short({ council: { openRegistration: true, unbondingSeconds: 0 } })), 3, async net => {
      await net.mineTo(3)
      const evidence = net.doublePrepare(2, key, offender)
      for (const chain of net.chains) chain.evidence.report(evidence)
      const block = await net.mine()
      expect(block.evidence).toEqual([encodeEvidence(evidence)])
      for (const { world, sources } of net.chains) {
        expect(sources.council.jailedAt(offender)).toBe(4)
        expect(BigInt(world.head.storage(COUNCIL_ADDRESS, jailedAtSlot(offender)))).toBe(4n)
      }
      // A second proof of the same adds nothing, whoever brings it.
      for (const chain of net.chains) chain.evidence.report(net.doublePrepare(3, key, offender))
      expect((await net.mine()).evidence).toEqual([])
      expect(sorted(net.committee(2 * CYCLE).members)).toEqual(validators(0, 1, 2, 3, 4))
      await net.restart()
      await net.mineTo(2 * CYCLE)
      expect(serving(net)).toEqual(validators(0, 2, 3, 4))
      expect(net.first.sources.council.memberStatuses(net.number + 1)?.[1]?.status).toBe('jailed')
      expect(await refusal(net.first, { from: offender }, 'approve', validatorOf(9))).toBe('Jailed')
      // It may go, and never comes back under this key.
      await send(net, 1, 'requestExit', [offender])
      await net.mine()
      await send(net, 1, 'withdraw', [offender])
      await net.mine()
      const again = ['Again', offender, offender]
      expect(await refusal(net.first, { from: offender, value: STAKE }, 'register', ...again)).toBe('Jailed')
    }))

  test('takes the vote of its offender, also one that was given, and keeps its key from being admitted', () =>
    withNet(councilGenesis(4, short({ council: { openRegistration: false, unbondingSeconds: 0 } })), 1, async net => {
      const count = async () => [
        await ask(net.first, 'approvals', validatorOf(5)),
        await ask(net.first, 'approvalsNeeded'),
      ]
      await register(net, 5)
      await net.mine()
      await send(net, 0, 'approve', [validatorOf(5)])
      await send(net, 1, 'approve', [validatorOf(5)])
      await net.mine()
      expect(await count()).toEqual([2n, 3n])
      net.first.evidence.report(net.doublePrepare(2, key, offender))
      await net.mine()
      expect(await count()).toEqual([1n, 3n])
      // A member that left and wants to come back, and is found out while it waits.
      await send(net, 2, 'requestExit', [validatorOf(2)])
      await net.mine()
      await send(net, 2, 'withdraw', [validatorOf(2)])
      await net.mine()
      await register(net, 2)
      await net.mine()
      net.first.evidence.report(net.doublePrepare(3, validatorKey(2), validatorOf(2)))
      await net.mine()
      expect(await refusal(net.first, { from: validatorOf(0) }, 'approve', validatorOf(2))).toBe('Jailed')
      expect(await refusal(net.first, { from: ALICE }, 'admit', validatorOf(2))).toBe('Jailed')
    }))

  test('withholds the pay of the blocks its offender proposed in the cycle, for the foundation', () =>
    withNet(councilGenesis(4, short()), 2, async net => {
      await net.mineTo(2)
      const evidence = net.doublePrepare(1, key, offender)
      net.chains.forEach(chain => void chain.evidence.report(evidence))
      await net.mineTo(2 * CYCLE)
      const paid = (address: Hex) => net.first.world.head.account(address)?.balance ?? 0n
      expect(paid(rewardOf(1))).toBe(0n)
      expect(paid(rewardOf(0))).toBeGreaterThan(0n)
      const rewards = await net.first.economy.rewards(CYCLE)
      expect(rewards?.rewards.has(rewardOf(1))).toBe(false)
      // 60 % without a miner, and the offender's quarter of the union's 40 %.
      expect(rewards?.rewards.get(FOUNDATION)).toBe((2_000n * 10n ** 18n * 70n) / 100n)
      const { totalSupply } = (await net.first.economy.supply(net.number)) ?? {}
      const known = [COUNCIL_ADDRESS, FOUNDATION, ...[0, 1, 2, 3].map(rewardOf), ...net.genesis.alloc.keys()]
      expect(known.reduce((sum, address) => sum + paid(address), 0n)).toBe(totalSupply)
    }))

  const refused = async (net: CouncilNet, evidence: readonly Uint8Array[]) => {
    const [builder, judge] = net.chains as [TestChain, TestChain]
    const built = await builder.build(net.committee(net.number + 1).members[0])
    const extra = { ...decodeExtraData(built.header.extraData), evidenceRoot: hashByteStrings(evidence) }
    const forged = blockFromParts(
      { ...built.header, extraData: encodeExtraData(extra) },
      {
        transactions: built.transactions,
        proofHeaders: [],
        evidence,
      },
    )
    judge.clock.ms = builder.clock.ms
    return judge.chain.validate(forged, { number: forged.header.number, round: 0, fresh: true })
  }

  test('that proves nothing, is old, comes twice or from nowhere makes a block invalid', () =>
    withNet(councilGenesis(4, short({ council: { evidenceBlocks: 6 } })), 2, async net => {
      await net.mineTo(8)
      const good = net.doublePrepare(7, key, offender)
      const encoded = encodeEvidence(good)
      const reason = async (...items: readonly Uint8Array[]) => {
        const proposalVerdict = await refused(net, items)
        return proposalVerdict.valid ? 'valid' : proposalVerdict.reason
      }
      expect(await reason(Uint8Array.of(1, 2, 3))).toMatch(/BODY_EVIDENCE_INVALID/)
      expect(await reason(encoded, encoded)).toMatch(/jailed already/)
      expect(await reason(encodeEvidence(net.doublePrepare(2, key, offender)))).toMatch(/too old/)
      expect(await reason(encodeEvidence(net.doublePrepare(9, key, offender)))).toMatch(/no block before/)
      const forgery = net.doublePrepare(7, validatorKey(2), offender)
      expect(await reason(encodeEvidence(forgery))).toMatch(/SIGNATURE_INVALID/)
      if (good.kind !== 'conflict') throw new Error('a conflict')
      expect(await reason(encodeEvidence({ ...good, second: good.first }))).toMatch(/NO_CONTRADICTION/)
      expect(await reason(new Uint8Array(64 * 1024))).toMatch(/BODY_EVIDENCE_TOO_MUCH/)
      // Good evidence under a header whose state does not jail anybody.
      expect(await reason(encoded)).toMatch(/HEADER_RESULT.*stateRoot/)
    }))

  test('the node drops what can stand in no block, and keeps what a later one may hold', () =>
    withNet(councilGenesis(4, short({ council: { evidenceBlocks: 6 } })), 1, async net => {
      await net.mineTo(8)
      const { evidence } = net.first
      evidence.report(net.doublePrepare(2, key, offender))
      evidence.report(net.doublePrepare(7, validatorKey(2), offender))
      // Of the height that is open now.
      evidence.report(net.doublePrepare(9, validatorKey(3), validatorOf(3)))
      expect(evidence.select(9)).toEqual({ items: [], offenders: [] })
      expect((await net.mine()).evidence).toEqual([])
      expect((await net.mine()).evidence).toHaveLength(1)
      expect(net.first.sources.council.jailedAt(validatorOf(3))).toBe(10)
      expect(net.first.sources.council.jailedAt(offender)).toBe(0)
    }))

  test('is kept once against each validator, while a later block may include it', () =>
    withNet(councilGenesis(4, { rewards: { cycleBlocks: 20 }, council: { evidenceBlocks: 6 } }), 1, async net => {
      await net.mineTo(8)
      const { evidence } = net.first
      const against = (number: number) => net.doublePrepare(number, key, offender)
      const { futureHeights } = CONSENSUS_LIMITS
      expect([2, 3, 9, 9 + futureHeights].map(number => evidence.isOfUse(against(number)))).toEqual([
        ...[false, true, true, true],
      ])
      expect(evidence.isOfUse(against(10 + futureHeights))).toBe(false)
      expect([evidence.report(against(3)), evidence.report(against(4))]).toEqual([true, false])
      expect(evidence.held()).toEqual([encodeEvidence(against(3))])
      await net.mine()
      expect(evidence.held()).toEqual([])
      expect(evidence.report(against(4))).toBe(false)
    }))

  test('that no block holds yet survives a restart, and what no block can hold any more does not', () =>
    withNet(councilGenesis(5, short({ council: { evidenceBlocks: 6 } })), 2, async net => {
      await net.mineTo(8)
      // Of a height that is open longer than the node lives, and of one that the next block is the last to hold.
      const [late, old] = [net.doublePrepare(12, key, offender), net.doublePrepare(3, validatorKey(2), validatorOf(2))]
      net.first.evidence.report(late)
      net.first.evidence.report(old)
      await net.restart()
      expect(net.first.evidence.held()).toEqual([old, late].map(encodeEvidence))
      // The other chain holds none, and builds the next block.
      await net.mine()
      await net.mine()
      expect(net.first.evidence.held()).toEqual([encodeEvidence(late)])
      await net.restart()
      expect(net.first.evidence.held()).toEqual([encodeEvidence(late)])
      await net.mineTo(14)
      for (const { sources } of net.chains) expect(sources.council.jailedAt(offender)).toBe(14)
      await net.restart()
      expect(net.first.evidence.held()).toEqual([])
    }))

  test('that is larger than a block has room for does not keep other evidence out', () =>
    withNet(councilGenesis(4, short()), 1, async net => {
      await net.mineTo(3)
      const { evidence } = net.first
      const small = net.doublePrepare(2, key, offender)
      if (small.kind !== 'conflict' || small.first.type !== 'prepare') throw new Error('two prepares')
      const payload = {
        type: 'roundChange',
        number: 2,
        round: 1,
        sender: 0,
        signature: new Uint8Array(65),
        prepared: null,
      }
      const head = { ...small.first, type: 'proposal', round: 1, prepares: [] }
      const many = Array.from({ length: Math.ceil(EVIDENCE_BOUNDS.bytes / 65) }, () => payload)
      const large = { kind: 'unjustified', proposal: { ...head, roundChanges: many } } as unknown as Evidence
      expect(evidence.report(large)).toBe(false)
      expect(evidence.report(small)).toBe(true)
    }))
})

test.each(['mainnet', 'testnet', 'devnet'] as const)(
  '%s begins with its council in the contract and goes on',
  network => {
    const stake = NETWORKS[network].minStakeWei
    const council = [0, 1, 2, 3].map(index => ({
      name: `Validator ${index}`,
      validator: validatorOf(index),
      reward: rewardOf(index),
      stake: stake.toString(),
    }))
    const file = { format: 'tandem/1', network, timestamp: 1_735_689_600, council, foundation: FOUNDATION, alloc: {} }
    return withChain(
      async chain => {
        expect(await ask(chain, 'minStake')).toBe(stake)
        expect(await ask(chain, 'openRegistration')).toBe(network === 'devnet')
        expect(chain.world.head.account(COUNCIL_ADDRESS)).toMatchObject({ balance: 4n * stake, nonce: 1 })
        expect((await chain.mine()).header.number).toBe(1)
        expect(chain.sources.council.committee(121)).toBeUndefined()
        expect(sorted(chain.sources.council.committee(120)?.members ?? [])).toEqual(validators(0, 1, 2, 3))
      },
      { genesis: parseGenesis(JSON.stringify(file)) },
    )
  },
)

test('a damaged record of a cycle is found by the check of the database', () =>
  withNet(councilGenesis(2, short()), 1, async net => {
    await net.mineTo(2 * CYCLE)
    const { store } = net.first
    const batch = store.batch()
    batch.put(BUCKETS.cycle, numberKey(CYCLE), Uint8Array.of(0xc0))
    batch.del(BUCKETS.council, numberKey(0))
    await batch.write()
    const { problems } = await verifyChain(store, { from: 0 })
    expect(problems.filter(problem => /council of its cycle/.test(problem))).toHaveLength(3)
  }))

test('a record that reads well and is false is found too: the state commits to all but the newest', () =>
  withNet(councilGenesis(3, short()), 1, async net => {
    await net.mineTo(5 * CYCLE + 1)
    const { store } = net.first
    expect((await verifyChain(store, { from: 0 })).problems).toEqual([])
    const key = numberKey(2 * CYCLE)
    const rows = readRecordRows(store, 2 * CYCLE)
    const members = decodeCouncil(store.getSync(BUCKETS.council, numberKey(0)) as Uint8Array)
    const elsewhere = members.map(member => ({ ...member, reward: ALICE }))
    for (const [bucket, row] of [
      [BUCKETS.council, encodeCouncil(elsewhere)],
      [
        BUCKETS.cycle,
        encodeRlp([
          new Uint8Array(0),
          [[Uint8Array.of(1), Uint8Array.of(9), Uint8Array.of(9)]],
          [],
          new Uint8Array(32),
          [],
          [],
          [],
        ]),
      ],
    ] as const) {
      const batch = store.batch()
      batch.put(bucket, key, row)
      await batch.write()
      const { problems } = await verifyChain(store, { from: 0 })
      expect(problems).toEqual([expect.stringMatching(/council records make 0x.*, the state commits to 0x/)])
      const back = store.batch()
      back.del(BUCKETS.council, key)
      back.put(BUCKETS.cycle, key, rows?.cycle as Uint8Array)
      await back.write()
    }
    expect((await verifyChain(store, { from: 0 })).problems).toEqual([])
  }))

test('on a development chain registered validators are in the council, and the single validator still decides alone', async () => {
  const genesis = devGenesis()
  const params = { ...genesis.params, rewards: { ...genesis.params.rewards, cycleBlocks: CYCLE } }
  await withChain(
    async chain => {
      const [alice] = ACCOUNT_KEYS as [Uint8Array]
      const node = ACCOUNTS[2] as Hex
      expect((await transact(chain, alice, 'register', ['Second', node, node], STAKE)).status).toBe(1)
      while (chain.chain.head().number < 2 * CYCLE) await chain.mine()
      expect(chain.sources.council.memberStatuses(2 * CYCLE + 1)).toHaveLength(2)
      expect(chain.sources.council.committee(2 * CYCLE + 1)).toEqual({ members: [VALIDATOR], proposers: 1 })
    },
    { genesis: { ...genesis, params } },
  )
})

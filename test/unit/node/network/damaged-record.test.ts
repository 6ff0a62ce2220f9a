import { silentLogger } from '@tandem/base/logger.ts'
import { afterEach, expect, test } from 'vitest'
import { encodeEvidence } from '../../../../src/consensus/evidence/codec.ts'
import { EvidenceRelay } from '../../../../src/consensus/evidence/evidence-relay.ts'
import { createSignatureVerifier } from '../../../../src/consensus/signer/signature-verifier.ts'
import { recoverAddress } from '../../../../src/crypto/signature.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { councilGenesis, validatorKey, validatorOf } from '../../../support/council-genesis.ts'
import { withNet } from '../../../support/council-net.ts'
import { NetNodes, until } from '../../../support/network/net-node.ts'
import { RawPeer } from '../../../support/network/raw-peer.ts'

const CYCLE = 4
const nodes = new NetNodes()
afterEach(() => nodes.stop())

test("evidence of a cycle whose record is damaged ends neither the process nor the peer's connection", () =>
  withNet(councilGenesis(4, { rewards: { cycleBlocks: CYCLE } }), 1, async net => {
    await net.mineTo(5 * CYCLE + 1)
    const evidence = net.doublePrepare(2 * CYCLE + 1, validatorKey(1), validatorOf(1))
    // Its council was read after block 4; enough cycles to be out of the cache are not needed, for the chain is opened anew.
    const batch = net.first.store.batch()
    batch.put(BUCKETS.cycle, numberKey(CYCLE), Uint8Array.of(0xc1, 0x80))
    await batch.write()
    await net.restart()
    const { sources, genesisHash, genesis, evidence: evidencePool } = net.first
    const node = await nodes.start({ hears: false })
    const domain = { chainId: genesis.params.chainId, genesisHash }
    const { isSigned } = createSignatureVerifier(domain, recoverAddress, 100)
    const parts = { evidencePool, committees: sources.council, isSigned, logger: silentLogger }
    const gossip = new EvidenceRelay({ ...parts, network: node.network.evidence })
    gossip.start()
    const peer = await RawPeer.meet(node.port)
    for (let count = 0; count < 5; count++) peer.send('evidence', encodeEvidence(evidence))
    const told = () => node.log.lines.filter(({ message }) => message === 'message of a peer not handled')
    await until('told', () => told().length > 0)
    peer.send('ping', { head: { number: 0, hash: genesisHash }, earliest: 0 }, 1)
    await until('served', () => peer.said('pong').length === 1)
    expect(told()).toHaveLength(1)
    expect(String(told()[0]?.fields['err'])).toContain('COUNCIL_RECORD_MALFORMED')
    expect(node.network.peers().map(({ score }) => score)).toEqual([0])
    // Blocks and committees of other cycles go on.
    expect(sources.council.committee(5 * CYCLE + 2)?.members).toHaveLength(4)
    gossip.stop()
  }))

import { NETWORKS } from '../../../src/config/networks.ts'
import { forkRules } from '../../../src/network/fork-id.ts'
import type { ValidatorSigner } from '../../../src/network/ports.ts'
import { proveValidator } from '../../../src/network/proofs.ts'
import { generateNodeKey, type NodeKey } from '../../../src/network/tls/node-key.ts'
import type { SigningDomain } from '../../../src/primitives/vote.ts'
import { until } from './net-node.ts'
import { RawPeer } from './raw-peer.ts'

/** A raw peer that a real node of this devnet chain lets in; with a signer it proves to be that validator. Rejects when it is refused. */
export const meetOn = async (
  domain: SigningDomain,
  port: number,
  signer: ValidatorSigner | null = null,
  key: NodeKey = generateNodeKey(),
): Promise<RawPeer> => {
  const peer = await RawPeer.connect(port, key)
  const { hash, next } = forkRules(domain.genesisHash, NETWORKS.devnet.forks).at(0)
  peer.socket.on('error', () => {})
  peer.send(
    'hello',
    peer.hello({
      ...{ ...domain, forkHash: hash, forkNext: next, head: { number: 0, hash: domain.genesisHash } },
      proof: signer && proveValidator(signer, domain, peer.key.id, peer.channel.binding),
    }),
  )
  peer.send('ready', null)
  await until('ready', () => peer.said('ready').length > 0 || peer.isClosed)
  if (peer.isClosed) throw new Error(`refused: ${peer.reason}`)
  return peer
}

import { NETWORK_LIMITS } from '../../src/config/limits/network.ts'
import { DISCONNECT_REASONS } from '../../src/network/core/disconnect-reasons.ts'
import { CONNECT_SHARES } from '../../src/network/core/inbound-limiter.ts'
import { OFFENCES } from '../../src/network/core/peer-scores.ts'
import { OUTSIDER_QUOTA } from '../../src/network/messages/message-spec.ts'
import { ANSWER_NAMES, MESSAGES, type MessageName, messageSpec } from '../../src/network/messages/messages.ts'
import { PROLOGUE } from '../../src/network/transport/secure-channel.ts'
import { CHANNELS } from '../../src/network/wire/channels.ts'

const list = (items: readonly string[]): string => items.map(item => `- ${item}`).join('\n')

const bytes = (count: number): string => {
  if (count >= 1024 * 1024) return `${Math.round((count / 1024 / 1024) * 10) / 10} MiB`
  return count >= 1024 ? `${Math.round(count / 1024)} KiB` : `${count} B`
}

/** A list for each channel; a request and its response share an item. */
const messageLists = (): string => {
  const responses = new Set<string>(Object.values(ANSWER_NAMES))
  const requests = (Object.keys(MESSAGES) as MessageName[]).filter(name => !responses.has(name))
  const byChannel = Map.groupBy(requests, name => messageSpec(name).channel)
  return [...byChannel].map(([channel, names]) => `${channel}:\n\n${list(names.map(messageItem))}`).join('\n\n')
}

const messageItem = (name: MessageName): string => {
  const { quota, from: sender } = messageSpec(name)
  const response = (ANSWER_NAMES as Partial<Record<MessageName, MessageName>>)[name]
  const parts = [name, ...(response === undefined ? [] : [response])].map(part => {
    const { id, maxBytes, summary } = messageSpec(part)
    return { head: `${id} \`${part}\` ${bytes(maxBytes)}`, summary }
  })
  const from = sender === 'anyone' ? '' : `, ${sender}`
  const heads = parts.map(({ head }) => head).join(', ')
  return `${heads}, ${quota.perSecond}/${quota.burst}${from}: ${parts.map(({ summary }) => summary).join('; ')}`
}

/** Checks of a message after channel, size, quota and sender, in order of execution and of cost. */
const CHECKS: readonly (readonly [messages: string, checks: string])[] = [
  ['`vote`', 'height near the head; committee known; length of lists; signature; signatures of the proof'],
  [
    '`proposal`',
    'held already; height; lists; signature; signatures of the justification; proposer, round, first of its round; hash of the header; body by the roots of the header; senders',
  ],
  ['`body`', 'length and hash of the header; requested by this node; body; senders'],
  ['`decided`', 'length and hash of the header; known already; height; shape of the certificate; seals; body; senders'],
  [
    '`newBlock`',
    'length and hash of the header; next height, and no member; one at a time; certificate; body; senders',
  ],
  ['`newBlockHash`, `ping`, `pong`', "the sender's claimed head: only starts requests"],
  [
    '`blocks`',
    'requested; headers: numbers, links, certificate of the last; bodies; other certificates; senders when imported',
  ],
  ['`evidence`', 'form; height and member; none held against the member; signatures'],
  [
    '`proofHeader`',
    'form; known; version, height, parent, coinbase, anchor, target; the cheap hash of its work; Argon2id, a few at once',
  ],
  ['`manifest`', 'requested; form; parts match the state root; the block is proven to be part of the chain'],
  ['`chunk`, `codes`, `receipts`', 'requested; known hash or root'],
  ['`records`', 'requested; newer than the known one; signatures'],
  ['`transactionHashes`', 'the sender has room for an announcement; unknown here'],
  [
    '`newTransactions`, `transactions`',
    'unknown here; quota of refused ones; admission of the pool, which recovers the sender',
  ],
  ['`status`, `links`', 'form; responses with blocks have a budget of bytes'],
  ['requests', 'few at a time; stop at a size'],
]

const checkList = (): string => list(CHECKS.map(([messages, checks]) => `${messages}: ${checks}`))

const channelList = (): string =>
  list(
    Object.entries(CHANNELS).map(([name, { id, queueBytes, drop, carries }]) => {
      const full = { oldest: 'the oldest goes', newest: 'the newest goes', close: 'the connection ends' }[drop]
      return `${id} ${name}, ${bytes(queueBytes)}, ${full}: ${carries}`
    }),
  )

const reasonText = (): string =>
  Object.entries({
    backoff: 'After a pause',
    long: `After ${NETWORK_LIMITS.incompatibleMs / 60_000} min`,
    never: 'Never',
  })
    .map(([wait, title]) => {
      const reasons = Object.entries(DISCONNECT_REASONS).filter(([, reason]) => reason.wait === wait)
      return `- ${title}: ${reasons.map(([name, { code, text }]) => `${code} \`${name}\` (${text})`).join(', ')}.`
    })
    .join('\n')

const offenceText = (): string =>
  Object.entries(OFFENCES)
    .map(([name, cost]) => `\`${name}\` ${cost === 'ban' ? cost : `-${cost}`}`)
    .join(', ')

/** docs/network.md: derived from the declarations, never edited. */
export const renderProtocolDocs = (): string => `# Peers

Generated from the declarations under \`src/network\` by \`npm run docs\`; do not edit. Reasons: [design/network.md](design/network.md).

## Connection

TCP, then \`Noise_NN_25519_AESGCM_SHA256\` (revision 34) with empty payloads and the prologue \`${PROLOGUE}\`. A node's identity is its
Ed25519 key, the 32 bytes of its node id. The first record of each side is the identity: key, chain id (8 bytes), genesis hash, and the key's signature over
\`tandem-identity/1 initiator \` or \`tandem-identity/1 responder \`, the handshake's hash (32 bytes), and what comes before. Until then a side reads 188 or 204 bytes.

    dialing side     e (32 bytes)                                      [identity] hello
    listening side                  e (32) tag (16) [identity] hello
    record           length (4) of what follows, the sealed frame, its tag (16)

A record's number is the nonce of AES-256-GCM; the key is replaced after each 65,536 (REKEY). An address is \`tandem://<node id>@<host>:<port>\`.
Of two connections of a pair, the one opened by the lower id stays.

## Frames

All integers are unsigned and big-endian.

    message  = head payload        head  = id (1 byte) request id (4) length of the payload (4)
    frame    = length (4) channel (1) part

A part is exactly ${NETWORK_LIMITS.fragmentBytes} bytes but in a message's last frame. Lower channels are sent first; messages of one channel do not alternate. A payload is canonical RLP.
A message must be complete ${NETWORK_LIMITS.messageMs / 1_000} s after its first byte, 1 s later for each ${bytes(NETWORK_LIMITS.bytesPerMs * 1_000)}. Any deviation bans the sender; a record that does not open only ends the connection.

Channels, with the queue for one peer and what happens when it is full:

${channelList()}

## Handshake

Within ${NETWORK_LIMITS.handshakeMs / 1_000} s both sides send \`hello\`, then \`ready\`, or \`disconnect\` in its place (for want of a place after \`records\`).

    hello  = [version, chain id, genesis hash, fork hash, next fork, node id, instance, client, [number, hash] of the head,
              earliest block, record, proof]
    proof  = [validator, signature] or []
    record = [sequence, node id, host, port, [validator, signature] or [], Ed25519 signature], or empty

- \`instance\` (8 bytes) changes at each start. The fork id is EIP-2124's over main-chain forks, with proof-chain forks in its first checksum.
- The proof signs keccak256(RLP["tandem-channel/1", chain id, genesis hash, node id, binding]) with the validator's key; the binding is the handshake's hash.
- A record signs RLP["tandem-record/1", chain id, genesis hash, sequence, node id, host, port, proof]; its proof, keccak256(RLP["tandem-node/1", chain id,
  genesis hash, node id]), is only a hint for dialing.

## Messages

A request has an id above 0 that its response repeats. \`committee\`: only from proven members and named relays; from others all are skipped,
${OUTSIDER_QUOTA.perSecond} a second, ${OUTSIDER_QUOTA.burst} at once. Beyond its quota a message is skipped and costs score; each ${bytes(NETWORK_LIMITS.fragmentBytes)} of payload counts once more. Senders keep half of a quota, four fifths for requests.

An item: id, name, size at most, quota (a second/at once), sender if not anyone, meaning.

${messageLists()}

## Order of checks

Id, channel, length, request id, sender, quota: at the first nine bytes. Then strict decoding, then:

${checkList()}

\`links\` lists the validators that a node reaches: an accepted message from its author or a relay is relayed only to neighbours that do not reach the author.
\`delegation\` signs keccak256(RLP["tandem-relay/1", chain id, genesis hash, node id of the relay, block]); it counts within ${NETWORK_LIMITS.delegationBlocks} blocks of that one.

## Peer slots

${NETWORK_LIMITS.inbound} inbound and ${NETWORK_LIMITS.outbound} outbound peers, ${NETWORK_LIMITS.perAddress} of one address (IPv4, IPv6 /64; not the loopback), ${NETWORK_LIMITS.reserved} reserved slots for members and static peers. Unfinished
handshakes: ${NETWORK_LIMITS.pending}, ${NETWORK_LIMITS.pendingPerAddress} of one address, as many again for members' and static addresses; ${NETWORK_LIMITS.connectsPerSecond} a second of an address, ${NETWORK_LIMITS.connectsBurst} at once, ${CONNECT_SHARES.slice(1).join(' and ')} times that of its /24 and /16 (/48, /32). Pings every ${NETWORK_LIMITS.pingMs / 1_000} s; after ${NETWORK_LIMITS.silenceMs / 1_000} s of silence
the connection ends.

## Peer scores

From 0 down with each offence, recovering by half in ${NETWORK_LIMITS.halfLifeMs / 60_000} min; below ${NETWORK_LIMITS.disconnectScore} disconnected, below ${NETWORK_LIMITS.banScore} banned for ${NETWORK_LIMITS.banMs / 60_000} min. ${NETWORK_LIMITS.bansPerAddress} banned nodes ban their address for strangers. Reserved
peers are banned only where the cost is a ban, for ${NETWORK_LIMITS.reservedBanMs / 1_000} s first, doubling; so is their validator key, with which ${NETWORK_LIMITS.perValidator} nodes may connect.

${offenceText()}.

## Reasons of a disconnect

Dialed again:

${reasonText()}
`

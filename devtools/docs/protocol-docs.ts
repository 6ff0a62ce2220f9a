import { NETWORK_LIMITS } from '../../src/config/limits/network.ts'
import { DISCONNECT_REASONS } from '../../src/network/core/disconnect-reasons.ts'
import { OFFENCES } from '../../src/network/core/peer-scores.ts'
import {
  ANSWER_NAMES,
  MESSAGES,
  type MessageName,
  messageSpec,
  NETWORK_PROTOCOL_VERSION,
} from '../../src/network/messages.ts'
import { CHANNELS } from '../../src/network/wire/channels.ts'

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')

const bytes = (count: number): string => {
  if (count >= 1024 * 1024) return `${Math.round((count / 1024 / 1024) * 10) / 10} MiB`
  return count >= 1024 ? `${Math.round(count / 1024)} KiB` : `${count} B`
}

const ANSWERED = new Map<string, string>(Object.entries(ANSWER_NAMES).map(([question, answer]) => [answer, question]))

const messageTable = (): string =>
  table(
    ['id', 'message', 'channel', 'at most', 'a second, at once', 'from', 'meaning'],
    (Object.keys(MESSAGES) as MessageName[]).map(name => {
      const { id, channel, maxBytes, quota, from, summary } = messageSpec(name)
      const question = ANSWERED.get(name)
      const rate = question === undefined ? `${quota.perSecond}, ${quota.burst}` : `answers \`${question}\``
      return [id, `\`${name}\``, channel, bytes(maxBytes), rate, from, summary]
    }),
  )

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

const checkTable = (): string => table(['message', 'then, in this order'], CHECKS)

const channelTable = (): string =>
  table(
    ['id', 'channel', 'queue for one peer', 'when it is full', 'carries'],
    Object.entries(CHANNELS).map(([name, { id, queueBytes, drop, carries }]) => [
      id,
      name,
      bytes(queueBytes),
      { oldest: 'the oldest is dropped', newest: 'the newest is dropped', close: 'the connection ends' }[drop],
      carries,
    ]),
  )

const reasonTable = (): string =>
  table(
    ['code', 'reason', 'meaning', 'tried again'],
    Object.entries(DISCONNECT_REASONS).map(([name, { code, text, wait }]) => [
      code,
      `\`${name}\``,
      text,
      { backoff: 'after a pause', long: `after ${NETWORK_LIMITS.incompatibleMs / 60_000} min`, never: 'never' }[wait],
    ]),
  )

const offenceTable = (): string =>
  table(
    ['offence', 'cost'],
    Object.entries(OFFENCES).map(([name, cost]) => [`\`${name}\``, cost === 'ban' ? 'ban' : `-${cost}`]),
  )

/** docs/network.md: derived from the declarations, never edited. */
export const renderProtocolDocs = (): string => `# Peers

Generated from the declarations under \`src/network\` by \`npm run docs\`; do not edit.

## Connection

TCP, then the handshake \`Noise_NN_25519_AESGCM_SHA256\` (revision 34) with empty payloads and the prologue \`tandem/${NETWORK_PROTOCOL_VERSION}\`. The identity of a node is its
Ed25519 key, whose 32 bytes are the node id (64 hex digits). The first record of each side is its identity: key, chain id (8 bytes), genesis
hash, and the key's signature over \`tandem-identity/1 initiator \` or \`tandem-identity/1 responder \`, the 32 bytes of the handshake's hash, and what comes before. Until then a side reads 188 or 204 bytes, no more:
no certificate exists, and nothing is verified but one signature.

    dialing side     e (32 bytes)                                      [identity] hello
    listening side                  e (32) tag (16) [identity] hello
    record           length (4) of what follows, the sealed frame, its tag (16)

A record holds one frame. Its number is the nonce of AES-256-GCM; after each 65,536 records the key is replaced (REKEY).
A node's address is \`tandem://<node id>@<host>:<port>\`. One connection for each pair of
nodes: of two that were opened at once, the one opened by the node with the lower id stays.

## Frames

All integers are unsigned and big-endian.

    message  = head payload        head  = id (1 byte) request id (4) length of the payload (4)
    frame    = length (4) channel (1) part

A part is the next bytes of the channel's message: exactly ${NETWORK_LIMITS.fragmentBytes} in each frame but the message's last. Frames of a channel with a
lower id are sent before any of a higher one; messages of one channel do not alternate. A payload is canonical RLP. A message must be complete
${NETWORK_LIMITS.messageMs / 1_000} s after its first byte, longer ones 1 s more for each ${bytes(NETWORK_LIMITS.bytesPerMs * 1_000)}. Any deviation ends the connection and bans the sender.

${channelTable()}

## Handshake

Within ${NETWORK_LIMITS.handshakeMs / 1_000} s both sides send \`hello\` without waiting for the other's, and \`ready\` when they accept it. A refusal is sent as \`disconnect\` in place of \`ready\`; for want of a place, after \`records\`.

    hello  = [version, chain id, genesis hash, fork hash, next fork, node id, instance, client, [number, hash] of the head,
              earliest block, record, proof]
    proof  = [validator, signature] or []
    record = [sequence, node id, host, port, [validator, signature] or [], Ed25519 signature], or empty

- \`instance\` (8 bytes) changes at each start. The fork id is that of EIP-2124 over main-chain forks; heights of proof-chain forks
  go into its first checksum.
- The proof signs keccak256(RLP["tandem-channel/1", chain id, genesis hash, node id, binding]) with the validator's key. The binding is the
  hash of the Noise handshake, so it holds on this connection only.
- A record is signed over RLP["tandem-record/1", chain id, genesis hash, sequence, node id, host, port, proof]; its proof signs
  keccak256(RLP["tandem-node/1", chain id, genesis hash, node id]) and is only a hint for dialing.

## Messages

A request has a request id above 0 that its answer repeats; all others have 0. \`committee\`: accepted only from peers that proved to be members of the
council, or that the operator or a member names as relays; from other peers it is skipped. Messages beyond their quota are
skipped and cost score; a message counts once, and once more for each ${bytes(NETWORK_LIMITS.fragmentBytes)} of payload. A sender keeps to half of a quota
(four fifths of the rate for requests), so that nothing that a slow line delivers late and at once is beyond it.

${messageTable()}

## Order of checks

Every message: known id and channel, length, request id, sender allowed, quota; all at its first nine bytes. Then its payload is decoded strictly.

${checkTable()}

Members send their votes and proposals to every member they are connected to. \`links\` lists the validators that a node reaches: a message that consensus
accepted, and that came from its author or a relay, is relayed only to neighbours that do not reach its author, so in a full mesh nothing is relayed.
\`delegation\` is a validator's signature over keccak256(RLP["tandem-node/1", chain id, genesis hash, node id of the relay]).

## Peer slots

${NETWORK_LIMITS.inbound} inbound and ${NETWORK_LIMITS.outbound} outbound peers, ${NETWORK_LIMITS.perAddress} of one address (an IPv4 address or an IPv6 /64; the loopback is not counted), and
${NETWORK_LIMITS.reserved} reserved slots for committee members and static peers, which change with the council. At most ${NETWORK_LIMITS.pending} connections without a finished handshake, ${NETWORK_LIMITS.pendingPerAddress} of one address, and as many again for addresses of members and static peers;
an address opens ${NETWORK_LIMITS.connectsPerSecond} a second, ${NETWORK_LIMITS.connectsBurst} at once. A peer that sends nothing for ${NETWORK_LIMITS.silenceMs / 1_000} s is disconnected; pings are sent every ${NETWORK_LIMITS.pingMs / 1_000} s.

## Peer scores

A score starts at 0, falls with each offence and recovers by half in ${NETWORK_LIMITS.halfLifeMs / 60_000} min. Below ${NETWORK_LIMITS.disconnectScore} the peer is disconnected, below ${NETWORK_LIMITS.banScore} banned for ${NETWORK_LIMITS.banMs / 60_000} min;
${NETWORK_LIMITS.bansPerAddress} banned nodes ban their address (never the loopback) for strangers that connect from it. Peers in reserved slots are banned only for offences whose cost is a ban,
first for ${NETWORK_LIMITS.reservedBanMs / 1_000} s and each time twice as long. A ban also applies to the validator key that the peer proved. At most ${NETWORK_LIMITS.perValidator} nodes may connect with one key.

${offenceTable()}

## Reasons of a disconnect

${reasonTable()}
`

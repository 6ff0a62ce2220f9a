import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { delegationCodec, disconnectCodec, emptyCodec, helloCodec, linksCodec, pingCodec } from '../wire/control.ts'
import { stringsCodec } from '../wire/payload-codec.ts'
import { declareMessage, declareResponse, KIB, LIST_OVERHEAD, quota } from './message-spec.ts'

/** Messages of the connection itself: handshake, liveness, peer records. */
export const CONTROL_MESSAGES = {
  hello: declareMessage('control', 0, {
    maxBytes: 2 * KIB,
    quota: quota(1, 1),
    codec: helloCodec,
    from: 'handshake',
    summary: 'Identity of the node, its chain, and the validator it represents',
  }),
  ready: declareMessage('control', 1, {
    maxBytes: 1,
    quota: quota(1, 1),
    codec: emptyCodec,
    from: 'handshake',
    summary: 'The hello was accepted',
  }),
  disconnect: declareMessage('control', 2, {
    maxBytes: 16,
    quota: quota(1, 1),
    codec: disconnectCodec,
    from: 'handshake',
    summary: 'Why this side closes the connection now',
  }),
  ping: declareMessage('control', 3, {
    maxBytes: 128,
    quota: quota(1, 5),
    codec: pingCodec,
    summary: 'Head and earliest block; to be answered',
  }),
  pong: declareResponse('control', 4, {
    maxBytes: 128,
    codec: pingCodec,
    summary: 'The same of the other side',
  }),
  getRecords: declareMessage('control', 5, {
    maxBytes: 1,
    quota: quota(0.1, 3),
    codec: emptyCodec,
    summary: 'Requests peer records',
  }),
  records: declareResponse('control', 6, {
    maxBytes: NETWORK_LIMITS.recordsPerAnswer * NETWORK_LIMITS.recordBytes + LIST_OVERHEAD,
    codec: stringsCodec(NETWORK_LIMITS.recordsPerAnswer, NETWORK_LIMITS.recordBytes),
    summary: 'Signed records of nodes, by chance',
  }),
  links: declareMessage('control', 7, {
    maxBytes: 8 * KIB,
    quota: quota(20, 200),
    codec: linksCodec,
    from: 'committee',
    summary: 'Validators the sender reaches, directly and (told to members only) through relays, at each change',
  }),
  delegation: declareMessage('control', 8, {
    maxBytes: 128,
    quota: quota(0.5, 2 * NETWORK_LIMITS.relayedValidators),
    codec: delegationCodec,
    summary: "A validator's statement that the sender, or the receiver, relays for it",
  }),
} as const

import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { disconnectCodec, emptyCodec, helloCodec, linksCodec, pingCodec, recordsCodec } from '../wire/control.ts'
import { ANSWER_QUOTA, declareMessage, KIB, LIST_OVERHEAD, quota } from './message-spec.ts'

/** Messages of the connection itself: handshake, liveness, peer records. */
export const CONTROL_MESSAGES = {
  hello: declareMessage({
    id: 0,
    channel: 'control',
    maxBytes: 2 * KIB,
    quota: quota(1, 1),
    codec: helloCodec,
    from: 'handshake',
    summary: 'Identity of the node, its chain, and the validator it represents',
  }),
  ready: declareMessage({
    id: 1,
    channel: 'control',
    maxBytes: 1,
    quota: quota(1, 1),
    codec: emptyCodec,
    from: 'handshake',
    summary: 'The hello was accepted',
  }),
  disconnect: declareMessage({
    id: 2,
    channel: 'control',
    maxBytes: 16,
    quota: quota(1, 1),
    codec: disconnectCodec,
    from: 'handshake',
    summary: 'Why this side closes the connection now',
  }),
  ping: declareMessage({
    id: 3,
    channel: 'control',
    maxBytes: 128,
    quota: quota(1, 5),
    codec: pingCodec,
    from: 'anyone',
    summary: 'Head and earliest block; to be answered',
  }),
  pong: declareMessage({
    id: 4,
    channel: 'control',
    maxBytes: 128,
    quota: ANSWER_QUOTA,
    codec: pingCodec,
    from: 'anyone',
    summary: 'The same of the other side',
  }),
  getRecords: declareMessage({
    id: 5,
    channel: 'control',
    maxBytes: 1,
    quota: quota(0.1, 3),
    codec: emptyCodec,
    from: 'anyone',
    summary: 'Requests peer records',
  }),
  records: declareMessage({
    id: 6,
    channel: 'control',
    maxBytes: NETWORK_LIMITS.recordsPerAnswer * NETWORK_LIMITS.recordBytes + LIST_OVERHEAD,
    quota: ANSWER_QUOTA,
    codec: recordsCodec,
    from: 'anyone',
    summary: 'Signed records of nodes, by chance',
  }),
  links: declareMessage({
    id: 7,
    channel: 'control',
    maxBytes: 4 * KIB,
    quota: quota(20, 200),
    codec: linksCodec,
    from: 'committee',
    summary: 'Validators the sender is connected to, at each change: others relay to those it does not reach',
  }),
} as const

import * as bodies from './bodies.ts'
import * as reads from './reads.ts'
import type { Attack } from './scene.ts'
import * as sockets from './sockets.ts'

/** Attacks of hostile clients, by name. */
export const ATTACKS = {
  heads: bodies.heads,
  bodies: bodies.bodies,
  halfBodies: bodies.halfBodies,
  trickles: bodies.trickles,
  oddities: bodies.oddities,
  connections: bodies.connections,
  pipelines: bodies.pipelines,
  pages: bodies.pages,
  logBatches: reads.logBatches,
  logs: reads.logs,
  calls: reads.calls,
  wideCalls: reads.wideCalls,
  simulations: reads.simulations,
  traces: reads.traces,
  lookups: reads.lookups,
  unread: reads.unread,
  filters: reads.filters,
  wideSubscriptions: sockets.wideSubscriptions,
  subscriptions: sockets.subscriptions,
  restless: sockets.restless,
  idleSockets: sockets.idleSockets,
  pings: sockets.pings,
  fragments: sockets.fragments,
  deafSockets: sockets.deafSockets,
  wideMessages: sockets.wideMessages,
} as const satisfies Readonly<Record<string, Attack>>

export type AttackName = keyof typeof ATTACKS
export const ATTACK_NAMES = Object.keys(ATTACKS) as readonly AttackName[]

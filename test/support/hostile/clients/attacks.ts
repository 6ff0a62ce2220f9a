import * as bodies from './bodies.ts'
import * as reads from './reads.ts'
import type { Attack } from './scene.ts'
import * as sockets from './sockets.ts'

/** Attacks of hostile clients, by name. */
export const ATTACKS = { ...bodies, ...reads, ...sockets } as const satisfies Readonly<Record<string, Attack>>

export type AttackName = keyof typeof ATTACKS
export const ATTACK_NAMES = Object.keys(ATTACKS) as readonly AttackName[]

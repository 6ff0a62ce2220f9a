/** One attacker in a process of its own: `node bench/hostile-peers/attacker.ts ATTACK PORT CHAIN_ID GENESIS_HASH SEED`, until it is killed. */

import type { Hex } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { ATTACKS, type AttackName } from '../../test/support/hostile/attacks.ts'

const [name, port, chainId, genesisHash, seed] = process.argv.slice(2) as [AttackName, string, string, Hex, string]
const domain = { chainId: Number(chainId), genesisHash }
const stop = new AbortController()
await ATTACKS[name]({ target: { port: Number(port), domain }, random: createRandom(Number(seed)), signal: stop.signal })

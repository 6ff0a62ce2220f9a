import { applyPatches } from '../patch.ts'
import { ByzantineBlocks } from './byzantine-blocks.ts'
import { BYZANTINE_PATCHES } from './byzantine-patches.ts'

/*
 * `NODE_OPTIONS=--import=this BYZANTINE_BLOCKS=...` makes a node that proposes, at each of its turns, the worst block it can think of, and votes
 * honestly on those of others. It signs its blocks with its own key and spends its own money; no source of the product knows of it.
 */

Object.assign(globalThis, { byzantineBlocks: new ByzantineBlocks(JSON.parse(process.env['BYZANTINE_BLOCKS'] ?? '{}')) })
applyPatches(BYZANTINE_PATCHES)

import { applyPatches } from '../support/patch.ts'

/** `NODE_OPTIONS=--import=this` makes a validator that seals and never proposes. */
applyPatches([
  {
    file: 'consensus/core/propose.ts',
    find: 'const mine = proposerIndex(config, config.number, round) === config.index',
    replace: 'const mine = false',
  },
])

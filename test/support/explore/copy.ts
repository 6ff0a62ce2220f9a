import type { CoreState, HeightState } from '../../../src/consensus/core/types.ts'

/** A core that can be stepped without changing the first. The buffer of later heights is shared: none come here. */
export const copyCore = (core: CoreState): CoreState => ({ ...core, height: core.height && copyHeight(core.height) })

const copyHeight = (height: HeightState): HeightState => ({
  ...height,
  proposals: new Map(height.proposals),
  blocks: new Map(height.blocks),
  logged: new Set(height.logged),
  verdicts: new Map(height.verdicts),
  accepted: new Map(height.accepted),
  prepares: height.prepares.copy(),
  commits: height.commits.copy(),
  roundChanges: new Map(height.roundChanges),
  asked: { ...height.asked },
  own: { ...height.own },
  wanted: new Set(height.wanted),
})

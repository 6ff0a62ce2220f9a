import { delayUntil } from '@tandem/base/async/delay.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { ConsensusEngine } from '../../consensus/engine/types.ts'

const LOOK_MS = 5

/**
 * Resolves when the engine has decided the block that its log proposed before a stop, or cannot. It looks at the engine again and again:
 * the engine is idle some time after the event of the commit, which may have come before this call.
 */
export const untilIdle = async (engine: Pick<ConsensusEngine, 'status'>, clock: Clock): Promise<void> => {
  for (;;) {
    const { isIdle, mode } = engine.status()
    if (isIdle || mode !== 'voting') return
    await delayUntil(clock, clock.nowMs() + LOOK_MS).over
  }
}

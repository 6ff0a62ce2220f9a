import { CONSENSUS_LIMITS } from '../../../src/config/limits/consensus.ts'
import type { Plan, PlannedFault, PlannedFind } from './plan.ts'

/** Describes a plan for people: the setting, then the faults in order. */
export const describePlan = (plan: Plan): readonly string[] => {
  const {
    size,
    heights,
    faultsMs,
    blockTimeMs,
    roundTimeoutMs,
    executionMs,
    linkConditions,
    council,
    byzantine,
    faults,
  } = plan
  const { slow, mining, relays, blockSync } = plan
  const percent = (share: number) => `${Math.round(share * 100)} %`
  const lines = [
    `${size} nodes, block time ${blockTimeMs} ms, round timeout ${roundTimeoutMs} ms, execution ${executionMs.toFixed(1)} ms${plan.realKeys ? ', real keys' : ''}`,
    `faults until height ${heights} or ${faultsMs} ms`,
    `messages: ${percent(linkConditions.loss)} lost, ${percent(linkConditions.duplicate)} doubled, ${percent(linkConditions.stuck)} hang, ${linkConditions.delayMs.toFixed(1)} ms on the way`,
  ]
  if (plan.heldBlocks !== CONSENSUS_LIMITS.heldBlocks) lines.push(`members keep ${plan.heldBlocks} bodies of a height`)
  if (relays > 0) lines.push(`nodes ${size} to ${size + relays - 1} are relays, the only neighbours of members`)
  if (blockSync) lines.push('members that are behind fetch ranges of blocks')
  if (slow !== null) {
    lines.push(`slow blocks take ${slow.blockMs} ms${slow.hostileMs > 0 ? ', so would a transaction of a client' : ''}`)
  }
  if (council !== null)
    lines.push(
      `another committee of at least ${council.smallest} every ${council.cycleBlocks} blocks${council.resting ? ', of which some rest' : ''}`,
    )
  if (mining !== null) {
    const { forkHeight, finds } = mining
    lines.push(`${finds.length} proof headers, ${forkHeight === null ? 'no fork' : `fork at height ${forkHeight}`}`)
  }
  for (const { node, scripts } of byzantine)
    lines.push(`node ${node} is Byzantine: ${scripts.length === 0 ? 'silent' : scripts.join(', ')}`)
  const events = [...faults, ...(mining?.finds ?? [])].sort((a, b) => a.atMs - b.atMs)
  return [...lines, ...events.map(event => ('kind' in event ? describeFault(event) : describeFind(event)))]
}

const describeFind = ({ atMs, nodes, withheldMs }: PlannedFind): string => {
  const where =
    nodes.length === 1 ? `a proof header is found at member ${nodes[0]}` : `two are found at ${nodes.join(' and ')}`
  return `${atMs} ms: ${where}${withheldMs > 0 ? `, and withheld for ${withheldMs} ms` : ''}`
}

const describeFault = (plannedFault: PlannedFault): string => {
  const when = `${plannedFault.atMs} ms:`
  switch (plannedFault.kind) {
    case 'partition':
      return `${when} ${plannedFault.side.join(' ') || 'nobody'} split off${plannedFault.oneWay ? ' (not heard)' : ''} for ${plannedFault.forMs} ms`
    case 'crash':
      return `${when} member ${plannedFault.node} loses power ${plannedFault.point}, for ${plannedFault.forMs} ms${plannedFault.loses === 'nothing' ? '' : `, and its ${plannedFault.loses}`}`
    case 'answers':
      return `${when} member ${plannedFault.node} gets no block that it asks for, for ${plannedFault.forMs} ms`
    case 'eclipse':
      return `${when} member ${plannedFault.node} hears only Byzantine members for ${plannedFault.forMs} ms`
    case 'pause':
      return `${when} member ${plannedFault.node} stands still for ${plannedFault.forMs} ms`
    case 'clockJump':
      return `${when} the clock of member ${plannedFault.node} is ${plannedFault.skewMs} ms ahead for ${plannedFault.forMs} ms`
  }
}

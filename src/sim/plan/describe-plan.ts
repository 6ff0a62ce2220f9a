import type { Fault, Plan } from './plan.ts'

/** A plan as a person reads it: the setting, then what goes wrong when. */
export const describePlan = (plan: Plan): readonly string[] => {
  const { size, heights, faultsMs, blockTimeMs, roundTimeoutMs, executionMs, weather, council, liars, faults } = plan
  const percent = (share: number) => `${Math.round(share * 100)} %`
  const lines = [
    `${size} nodes, block time ${blockTimeMs} ms, round timeout ${roundTimeoutMs} ms, execution ${executionMs.toFixed(1)} ms${plan.realKeys ? ', real keys' : ''}`,
    `faults until height ${heights} or ${faultsMs} ms`,
    `messages: ${percent(weather.loss)} lost, ${percent(weather.duplicate)} doubled, ${percent(weather.stuck)} hang, ${weather.delayMs.toFixed(1)} ms on the way`,
  ]
  if (council !== null)
    lines.push(`another committee of at least ${council.smallest} every ${council.cycleBlocks} blocks`)
  for (const { node, scripts } of liars)
    lines.push(`node ${node} lies: ${scripts.length === 0 ? 'says nothing' : scripts.join(', ')}`)
  return [...lines, ...faults.map(describeFault)]
}

const describeFault = (fault: Fault): string => {
  const when = `${fault.atMs} ms:`
  switch (fault.kind) {
    case 'split':
      return `${when} ${fault.side.join(' ') || 'nobody'} split off${fault.oneWay ? ' (not heard)' : ''} for ${fault.forMs} ms`
    case 'crash':
      return `${when} member ${fault.node} loses power ${fault.point}, for ${fault.forMs} ms${fault.loses === 'nothing' ? '' : `, and its ${fault.loses}`}`
    case 'pause':
      return `${when} member ${fault.node} stands still for ${fault.forMs} ms`
    case 'leap':
      return `${when} the clock of member ${fault.node} is ${fault.skewMs} ms ahead for ${fault.forMs} ms`
  }
}

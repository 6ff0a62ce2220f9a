import { expect, test } from 'vitest'
import type { ScriptName } from '../../devtools/sim/byzantine/scripts.ts'
import type { Rule } from '../../devtools/sim/check/violation.ts'
import { drawPlan } from '../../devtools/sim/plan/draw-plan.ts'
import { runSimulation } from '../../devtools/sim/simulation.ts'

const SCRIPTS: readonly ScriptName[] = [
  'proposes two blocks',
  'votes for all',
  'withholds prepares',
  'proposes the unprepared',
]

/** Rules that an honest member keeps however many others are Byzantine, and offences of which it cannot be accused falsely. */
const OWN: readonly Rule[] = ['equivocation', 'amnesia', 'durability', 'timestamp', 'evidence', 'memory', 'prompt']

test('with more Byzantine members than tolerated, nothing holds between members, but no honest member breaks a rule of its own or is accused', async () => {
  const broken = new Map<Rule | null, number>()
  let accusations = 0
  for (let seed = 1; seed <= 40; seed++) {
    const plan = drawPlan({ seed, profile: 'lossy', heights: 12, size: 4 })
    const outcome = await runSimulation({ ...plan, byzantine: [0, 1].map(node => ({ node, scripts: SCRIPTS })) })
    const rule = outcome.violation?.rule ?? null
    broken.set(rule, (broken.get(rule) ?? 0) + 1)
    accusations += outcome.accusations
  }
  console.log(JSON.stringify({ accusations, ...Object.fromEntries(broken) }))
  for (const rule of OWN) expect(broken.get(rule), rule).toBeUndefined()
  // Blocks that could be certified were contradicted, and Byzantine members were named.
  expect(broken.get('lock') ?? 0).toBeGreaterThan(2)
  expect(accusations).toBeGreaterThan(200)
})

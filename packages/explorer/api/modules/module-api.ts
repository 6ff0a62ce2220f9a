import type { ApiContext } from '../api-route.ts'
import { accountActions } from './account-actions.ts'
import { blockActions } from './block-actions.ts'
import { contractActions } from './contract-actions.ts'
import { logActions } from './log-actions.ts'
import {
  isModuleFailure,
  type ModuleActions,
  type ModuleAnswer,
  moduleFailure,
  type Parameters,
} from './module-answer.ts'
import { proxyAnswer } from './proxy-actions.ts'
import { statsActions } from './stats-actions.ts'
import { transactionActions } from './transaction-actions.ts'

/** Actions by module, as wallets, forge, hardhat and ethers call them (docs/explorer.md#modules). */
const MODULES: Readonly<Record<string, ModuleActions>> = {
  account: accountActions,
  block: blockActions,
  contract: contractActions,
  logs: logActions,
  stats: statsActions,
  transaction: transactionActions,
}

/** Answers /api?module=...&action=...: always status 200, with errors in the body. Names of parameters are taken in any case. */
export const answerModule = async (
  context: ApiContext,
  given: Readonly<Record<string, unknown>>,
  body: unknown,
): Promise<string> => {
  const parameters: Parameters = new Map(
    Object.entries(given).flatMap(([name, value]) => (typeof value === 'string' ? [[name.toLowerCase(), value]] : [])),
  )
  const moduleName = (parameters.get('module') ?? '').toLowerCase()
  const action = (parameters.get('action') ?? '').toLowerCase()
  if (moduleName === 'proxy') return proxyAnswer(context, action, parameters, body)
  const actions = Object.hasOwn(MODULES, moduleName) ? MODULES[moduleName] : undefined
  if (actions === undefined) return JSON.stringify(moduleFailure('Error! Missing Or invalid Module name'))
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined
  if (run === undefined) return JSON.stringify(moduleFailure('Error! Missing Or invalid Action name'))
  return JSON.stringify(await runAction(() => run(context, parameters)))
}

const runAction = async (run: () => Promise<ModuleAnswer>): Promise<ModuleAnswer> => {
  try {
    return await run()
  } catch (error) {
    if (isModuleFailure(error)) return moduleFailure(error.detail.message)
    throw error
  }
}

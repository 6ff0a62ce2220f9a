import type { ApiContext } from '../api-route.ts'
import type { Readiness } from '../readiness.ts'
import { accountActions } from './account-actions.ts'
import { blockActions, statsActions, transactionActions } from './chain-actions.ts'
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

/** Actions by module, as wallets, forge, hardhat and ethers call them (docs/explorer.md#modules). */
const MODULES: Readonly<Record<string, ModuleActions>> = {
  account: accountActions,
  block: blockActions,
  contract: contractActions,
  logs: logActions,
  stats: statsActions,
  transaction: transactionActions,
}

interface ModuleCall {
  /** Names of parameters are taken in any case. */
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  /** Client of the request, as limits count clients. */
  readonly client: string
}

/** Answers /api?module=...&action=...: status 200, with errors in the body. Throws INDEX_NOT_READY. */
export const answerModule = async (
  context: ApiContext,
  { query, body, client }: ModuleCall,
  readiness: Pick<Readiness, 'check'>,
): Promise<string> => {
  const repeated = Object.entries(query).find(([, value]) => Array.isArray(value))
  if (repeated !== undefined) return JSON.stringify(moduleFailure(`Error! ${repeated[0].slice(0, 40)} is given twice`))
  const parameters: Parameters = new Map(
    Object.entries({ ...query, ...(isRecord(body) ? body : {}) }).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  )
  const chain = parameters.get('chainid') ?? ''
  if (chain !== '' && chain !== String(context.rules.chainId))
    return JSON.stringify(moduleFailure(`Missing or unsupported chainid; this is ${context.rules.chainId}`))
  const moduleName = (parameters.get('module') ?? '').toLowerCase()
  const action = (parameters.get('action') ?? '').toLowerCase()
  if (moduleName === 'proxy') return proxyAnswer(context, action, parameters, client)
  const actions = Object.hasOwn(MODULES, moduleName) ? MODULES[moduleName] : undefined
  if (actions === undefined) return JSON.stringify(moduleFailure('Error! Missing Or invalid Module name'))
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined
  if (run === undefined) return JSON.stringify(moduleFailure('Error! Missing Or invalid Action name'))
  if (!NEEDS_NO_INDEX.has(action)) await readiness.check()
  return JSON.stringify(await runAction(() => run(context, parameters, client)))
}

/** Actions that are answered by the node, by what was verified, or by sources of prices alone. */
const NEEDS_NO_INDEX = new Set([
  ...['balance', 'balancemulti', 'gettxreceiptstatus', 'ethprice', 'getabi', 'getsourcecode'],
  ...['checkverifystatus', 'verifyproxycontract', 'checkproxyverification'],
])

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const runAction = async (run: () => Promise<ModuleAnswer>): Promise<ModuleAnswer> => {
  try {
    return await run()
  } catch (error) {
    if (isModuleFailure(error)) return moduleFailure(error.detail.message)
    throw error
  }
}

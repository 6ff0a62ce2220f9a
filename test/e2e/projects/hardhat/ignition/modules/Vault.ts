import { buildModule } from '@nomicfoundation/hardhat-ignition/modules'

/** A library, a contract linked to it, a call after it, and a value read from the event of that call. */
export default buildModule('Vault', module => {
  const minimum = module.getParameter('minimum', 1_000n)
  const shares = module.library('Shares')
  const vault = module.contract('Vault', [minimum], { libraries: { Shares: shares } })
  const opened = module.call(vault, 'openDoors')
  const by = module.readEventArgument(opened, 'Opened', 'by', { emitter: vault })
  const firstDeposit = module.call(vault, 'deposit', [], { value: 5_000n, after: [opened] })
  module.staticCall(vault, 'sharesOf', [by], 0, { after: [firstDeposit] })
  return { vault }
})

// Wallets of the browser (EIP-6963): adds this network to them (EIP-3085), and has them sign the transaction of a page.

const ASKED_CHARS = 200
const POLL_MS = 1000
const POLLS = 120
const UNKNOWN_CHAIN = 4902
/** As in site.ts. */
const RPC_PATH = '/'

const chainOf = place => {
  const chain = JSON.parse(place.dataset.chain)
  // The addresses under which this browser reaches the pages, and the node beside them; another node has an address of its own.
  chain.rpcUrls = chain.rpcUrls.map(url => (url === RPC_PATH ? location.origin : url))
  chain.blockExplorerUrls = [`${location.origin}/explorer`]
  return chain
}

const addNetwork = async (place, provider, report) => {
  await provider.request({ method: 'wallet_addEthereumChain', params: [chainOf(place)] })
  report('The wallet has the network now.')
}

const useNetwork = async (place, provider) => {
  const chain = chainOf(place)
  if (Number(await provider.request({ method: 'eth_chainId' })) === Number(chain.chainId)) return
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: chain.chainId }] })
  } catch (error) {
    // Without the address of a node there is nothing to add.
    if (error?.code !== UNKNOWN_CHAIN || chain.rpcUrls.length === 0) throw error
    await provider.request({ method: 'wallet_addEthereumChain', params: [chain] })
  }
}

const receiptOf = async (provider, hash) => {
  for (let poll = 0; poll < POLLS; poll++) {
    const receipt = await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    if (receipt) return receipt
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
  return null
}

const sendTransaction = async (place, provider, report) => {
  report('Waiting for the wallet.')
  const [from] = await provider.request({ method: 'eth_requestAccounts' })
  await useNetwork(place, provider)
  const transaction = { from, ...JSON.parse(place.dataset.transaction) }
  const hash = String(await provider.request({ method: 'eth_sendTransaction', params: [transaction] }))
  const link = document.createElement('a')
  link.href = place.dataset.transactions + encodeURIComponent(hash)
  link.textContent = hash.slice(0, 66)
  report('Sent, and waiting for a block: ', link)
  const receipt = await receiptOf(provider, hash)
  if (receipt) report(Number(receipt.status) === 1 ? 'Done: ' : 'The transaction failed: ', link)
}

const buttonOf = ({ name, icon }, label) => {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'plain'
  if (typeof icon === 'string' && icon.startsWith('data:image/')) {
    const image = document.createElement('img')
    image.src = icon
    image.alt = ''
    button.append(image)
  }
  button.append(label + String(name).slice(0, 40))
  return button
}

const start = place => {
  const seen = new Set()
  const status = place.parentElement.querySelector('[data-wallet-status]')
  const report = (...parts) => status.replaceChildren(...parts)
  const isSending = place.dataset.transaction !== undefined
  addEventListener('eip6963:announceProvider', ({ detail: { info, provider } }) => {
    if (seen.has(info.uuid)) return
    seen.add(info.uuid)
    const button = buttonOf(info, isSending ? 'Sign with ' : 'Add to ')
    button.addEventListener('click', async () => {
      button.disabled = true
      try {
        await (isSending ? sendTransaction : addNetwork)(place, provider, report)
      } catch (error) {
        report(`The wallet answered: ${String(error?.message ?? error).slice(0, ASKED_CHARS)}`)
      }
      button.disabled = false
    })
    place.append(button)
    report(isSending ? 'The wallet shows the transaction and asks before it signs.' : '')
  })
}

for (const place of document.querySelectorAll('.wallets')) start(place)
dispatchEvent(new Event('eip6963:requestProvider'))

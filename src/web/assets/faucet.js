// Page of the faucet and worker of its proof of work: one file for both, so that the page needs no other origin and no inline script.

const ROUND = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]
const START = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]
const words = new Int32Array(64)

const rotate = (word, bits) => (word >>> bits) | (word << (32 - bits))

/** Mixes one block of 16 words into the state (FIPS 180-4). */
const compress = (state, block, at) => {
  for (let i = 0; i < 16; i++) words[i] = block.getInt32(at + 4 * i)
  for (let i = 16; i < 64; i++) {
    const a = words[i - 15]
    const b = words[i - 2]
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10)
    words[i] = (words[i - 16] + s0 + words[i - 7] + s1) | 0
  }
  let [a, b, c, d, e, f, g, h] = state
  for (let i = 0; i < 64; i++) {
    const first = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + words[i]) | 0
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = (state[i] + word) | 0
  })
}

/** Returns the number of zero bits that sha256 of an ASCII text begins with, at most 32. */
const zeroBits = text => {
  const bytes = new Uint8Array(Math.ceil((text.length + 9) / 64) * 64)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  bytes[text.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setUint32(bytes.length - 4, text.length * 8)
  const state = START.slice()
  for (let at = 0; at < bytes.length; at += 64) compress(state, view, at)
  return Math.clz32(state[0])
}

const work = () => {
  self.onmessage = ({ data: { challenge, address, bits } }) => {
    let nonce = 0
    while (zeroBits(`${challenge}:${address}:${nonce}`) < bits) nonce++
    self.postMessage(String(nonce))
  }
}

const solve = (script, puzzle, address) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(script)
    worker.onmessage = ({ data }) => {
      worker.terminate()
      resolve(data)
    }
    worker.onerror = () => {
      worker.terminate()
      reject(new Error('the worker failed'))
    }
    worker.postMessage({ challenge: puzzle.challenge, address: address.toLowerCase(), bits: puzzle.bits })
  })

const page = () => {
  const form = document.querySelector('form[data-faucet]')
  if (form === null) return
  const status = document.getElementById('faucet-status')
  const button = form.querySelector('button')
  form.addEventListener('submit', async event => {
    event.preventDefault()
    button.disabled = true
    try {
      const answer = await fetch(form.getAttribute('action'), { headers: { accept: 'application/json' } })
      const { work: puzzle } = await answer.json()
      if (puzzle.bits > 0) {
        status.textContent = 'Your browser is working on a small proof of work, which takes a few seconds.'
        form.elements.nonce.value = await solve(form.dataset.faucet, puzzle, form.elements.address.value)
        form.elements.challenge.value = puzzle.challenge
        form.elements.at.value = String(puzzle.atMs)
      }
      status.textContent = 'Sending.'
    } catch {
      // The form is sent without a proof of work, for which stricter limits hold.
    }
    form.submit()
  })
  // Back from the next page, the button would still be disabled.
  addEventListener('pageshow', () => {
    button.disabled = false
    status.textContent = ''
  })
}

if (typeof document === 'undefined') work()
else page()

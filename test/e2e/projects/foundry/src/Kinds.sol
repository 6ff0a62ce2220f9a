// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Kinds of contracts that explorers are asked to verify.
library Sums {
    function plus(uint256 a, uint256 b) external pure returns (uint256) {
        return a + b;
    }
}

/// Linked to a library, with an immutable and arguments of two types.
contract Tally {
    uint256 public immutable start;
    string public title;
    uint256 public count;

    constructor(uint256 first, string memory name) {
        start = first;
        title = name;
    }

    function add(uint256 amount) external {
        count = Sums.plus(count, amount);
    }
}

contract Part {
    uint256 public immutable number;

    constructor(uint256 value) {
        number = value;
    }
}

/// Creates contracts, which no transaction creates.
contract PartFactory {
    event Made(Part part);

    function make(uint256 value) external {
        emit Made(new Part(value));
    }
}

/// EIP-1967.
contract Forwarder {
    bytes32 private constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    constructor(address implementation) {
        assembly {
            sstore(SLOT, implementation)
        }
    }

    fallback() external payable {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(SLOT), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) {
                revert(0, returndatasize())
            }
            return(0, returndatasize())
        }
    }
}

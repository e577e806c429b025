"""Derivation trees and rules from word-aligned text."""

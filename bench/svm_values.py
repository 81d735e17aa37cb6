"""Objectives of a trained SVM, from their definitions, and gamma by scikit-learn's rule."""

import numpy as np
from scipy import sparse


def losses(y, decision, C, loss):
    slack = np.maximum(0, 1 - y * decision)
    return C * np.sum(slack if loss == "hinge" else slack**2)


def best_bias(y, f, C, loss):
    """The b that minimises sum of losses of f + b: hinge, a kink t_i = y_i - f_i; squared hinge, by its derivative."""
    t = np.sort(y - f)
    if loss == "hinge":
        # slope after the k smallest kinks: C (k - number of positives), zero at k = number of
        # positives.
        k = int(np.sum(y > 0))
        candidates = [t[max(k - 1, 0)], t[min(k, len(t) - 1)]]
        return float(np.mean(candidates))
    low, high = t[0], t[-1]
    for _ in range(200):
        middle = 0.5 * (low + high)
        slope = np.sum(-2 * C * y * np.maximum(0, 1 - y * (f + middle)))
        low, high = (middle, high) if slope < 0 else (low, middle)
    return 0.5 * (low + high)


def linear_primal(X, y, w, b, C, loss, bias):
    """Primal objective of (w, b); with a free bias b is replaced by the best one. `bias` is "free" or the value s."""
    f = np.asarray(X @ w).ravel()
    if bias == "free":
        b, extra = best_bias(y, f, C, loss), 0.0
    else:
        extra = 0.5 * (b / float(bias)) ** 2
    return 0.5 * float(w @ w) + extra + losses(y, f + b, C, loss)


def kernel_sums(X, y, support, beta, gamma):
    """f_i = sum_k K_ik beta_k over the support, in blocks; gamma None is the linear kernel."""
    if gamma is None:
        w = np.asarray(X[support].T @ beta).ravel()
        return np.asarray(X @ w).ravel()
    S = X[support]
    norm = lambda M: np.asarray(M.multiply(M).sum(axis=1)).ravel() if sparse.issparse(M) else (M * M).sum(axis=1)
    s2, f = norm(S), np.empty(X.shape[0])
    block = max(1, 20_000_000 // max(1, len(support)))
    for at in range(0, X.shape[0], block):
        B = X[at : at + block]
        cross = B @ S.T
        cross = cross.toarray() if sparse.issparse(cross) else np.asarray(cross)
        distance = np.maximum(0, norm(B)[:, None] + s2[None, :] - 2 * cross)
        f[at : at + block] = np.exp(-gamma * distance) @ beta
    return f


def svc_objectives(X, y, support, beta, C, gamma=None):
    """(primal with the best bias, dual) of a hinge machine with a free bias at signed dual variables beta on `support`,
    first made feasible: into the box, then the larger side shrunk to sum 0, so that the dual is a valid bound."""
    beta = np.clip(beta, np.where(y[support] > 0, 0, -C), np.where(y[support] > 0, C, 0))
    up, down = beta[beta > 0].sum(), -beta[beta < 0].sum()
    if up > down > 0:
        beta = np.where(beta > 0, beta * (down / up), beta)
    elif down > up > 0:
        beta = np.where(beta < 0, beta * (up / down), beta)
    f = kernel_sums(X, y, support, beta, gamma)
    norm = float(beta @ f[support])
    primal = 0.5 * norm + losses(y, f + best_bias(y, f, C, "hinge"), C, "hinge")
    return primal, float(np.abs(beta).sum()) - 0.5 * norm


def gamma_scale(X):
    """scikit-learn's gamma="scale": 1 / (p Var(X)), Var over all entries."""
    if sparse.issparse(X):
        mean = X.sum() / (X.shape[0] * X.shape[1])
        variance = X.multiply(X).sum() / (X.shape[0] * X.shape[1]) - mean**2
    else:
        variance = X.var()
    return float(1 / (X.shape[1] * variance))
